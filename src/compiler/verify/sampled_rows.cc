// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/sampled_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compiler/program/kernel_graph.h"
#include "compiler/reference/walk.h"
#include "compiler/verify/guarded_block.h"
#include "compiler/verify/thinned_kernel.h"

namespace assay::compiler {
namespace {

// Many rows: the first, the last, and one between. 65 is no multiple of anything that rows are cut
// by.
constexpr std::int64_t kStep = 65, kRows = 2 * kStep + 1;
// Of a part that is still too much, a smaller one.
constexpr std::int64_t kSteps[] = {kStep, 8 * kStep + 1, 64 * kStep + 9};

// Least values of the symbols with which there are so many rows, or at least so many: one symbol is
// raised, or where none is enough several. Nothing where there are more anyway, or never as many.
std::optional<Bindings> with_rows(const Dim& rows, const Symbols& symbols, std::int64_t count,
                                  std::int64_t at_least) {
  Bindings least;
  for (const auto& [name, interval] : symbols) least[name] = interval.low;
  if (rows.at(least) > count) return std::nullopt;
  // Raises one symbol until there are as many rows, or all that it can be; not where it does not
  // matter. In growing steps: far beyond, a number of rows has no room in 64 bits.
  const auto raise = [&](Bindings& values, const std::string& name) {
    const auto [least_value, most_value] = symbols.at(name);
    const auto rows_with = [&](std::int64_t value) {
      values[name] = value;
      return rows.at(values);
    };
    const auto before = rows_with(least_value);
    auto low = least_value, high = least_value;
    for (std::int64_t step = 1; high < most_value && rows_with(high) < count;) {
      low = high + 1;
      high = most_value - high < step ? most_value : high + step;
      if (high < most_value) step *= 2;
    }
    while (low < high) {
      const auto middle = low + (high - low) / 2;
      rows_with(middle) >= count ? high = middle : low = middle + 1;
    }
    const auto reached = rows_with(low);
    if (reached == before) values[name] = least_value;
    return reached >= count;
  };
  for (const auto& [name, interval] : symbols) {
    auto alone = least;
    if (raise(alone, name)) return alone;
  }
  auto all = least;
  for (const auto& [name, interval] : symbols) {
    if (raise(all, name)) return all;
  }
  if (rows.at(all) >= at_least) return all;
  return std::nullopt;
}

// Elements to interpret; inputs are only drawn.
double work_of(const Graph& graph, const Bindings& values) {
  double work = interpreted_elements(graph, values);
  for (const auto id : graph.inputs()) {
    work -= static_cast<double>(product(graph.node(id).shape).at(values));
  }
  return work;
}

}  // namespace

SampledRows::SampledRows(const Kernel& kernel, const Symbols& symbols, const Bindings& values,
                         std::uint64_t seed, double most_work, KnownProducts& products)
    : symbols_(symbols) {
  std::vector<Kernel> parts;
  for (const auto step : kSteps) {
    const auto some = thinned(kernel, values, step);
    parts.resize(some.size(), kernel);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto definition = definition_of(with_dense_results(some[i]), symbols).graph;
      const bool is_known = !(parts[i] == kernel);
      if (!is_known && work_of(definition, values) <= most_work) parts[i] = some[i];
    }
  }
  std::erase(parts, kernel);
  if (parts.empty()) return;
  trial_ = make_trial(definition_of(kernel, symbols).graph, values, InputStyle::kOrdinary, seed);
  std::map<std::string, std::uint64_t> fingerprints;
  for (const auto& [name, tensor] : trial_.inputs) {
    fingerprints.emplace(name, fingerprint_of(tensor.bytes(), 1));
  }
  for (const auto& part : parts) {
    const auto dense = definition_of(with_dense_results(part), symbols).graph;
    auto known = products.interpret(dense, trial_.views(), values, fingerprints);
    for (const auto& [operand, view] : written_by(part)) {
      const auto elements = product(kernel.operands[operand].shape).at(values);
      parts_.push_back(
          {operand, fixed(view, values, elements), std::move(known.at(operand_name(operand)))});
    }
  }
}

SampledRows::All SampledRows::of(const Kernel& kernel, const Symbols& symbols,
                                 const VerifyOptions& options, KnownProducts& products) {
  const auto whole = definition_of(kernel, symbols).graph;
  std::vector<Bindings> sizes;
  const auto rows = rows_of(kernel);
  const auto add_rows = [&](std::int64_t count, std::int64_t at_least) {
    auto values = with_rows(*rows, symbols, count, at_least);
    if (values) sizes.push_back(std::move(*values));
  };
  constexpr std::int64_t kFewRows = 8;
  if (rows && !options.fitting.empty()) add_rows(kFewRows, kFewRows);
  if (rows) {
    const auto affordable = rows->at(affordable_symbols(whole, options).back());
    if (affordable < kRows) add_rows(kRows, affordable + 1);
  }
  const auto used = used_symbols(symbols, options);
  if (!options.used_at.empty()) sizes.push_back(used);
  auto held = fitting_symbols(whole, options);
  if (std::holds_alternative<Attention>(kernel.work)) {  // which takes many keys in parts
    for (const auto& [name, interval] : symbols) {
      auto alone = affordable_symbols(whole, options).front();
      alone[name] = std::min(interval.high, std::max(interval.low, options.most_alone));
      sizes.push_back(std::move(alone));
    }
    const auto held_alone = long_symbols(whole, options);
    held.insert(held.end(), held_alone.begin(), held_alone.end());
  }
  All all;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto is_this = [&](const Bindings& other) { return other == sizes[i]; };
    if (std::ranges::any_of(held, is_this)) continue;
    if (std::any_of(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(i), is_this))
      continue;
    const bool is_used = !options.used_at.empty() && sizes[i] == used;
    const double most = is_used ? options.most_kernel_work : options.most_work;
    SampledRows sampled(kernel, symbols, sizes[i], options.seed, most, products);
    all.misses_use = all.misses_use || (is_used && sampled.parts_.empty());
    if (!sampled.parts_.empty()) all.sizes.push_back(std::move(sampled));
  }
  return all;
}

std::optional<SampledRows> SampledRows::beyond(std::int64_t border, const Kernel& kernel,
                                               const Symbols& symbols, const VerifyOptions& options,
                                               KnownProducts& products) {
  constexpr double kMostProducts = 4e9;
  const auto beyond = (border / kStep + 1) * kStep + 1;  // so that the last row is looked at
  const auto rows = rows_of(kernel);
  const auto values = rows ? with_rows(*rows, symbols, beyond, border) : std::nullopt;
  if (!values || products_of(kernel, *values) > kMostProducts) return std::nullopt;
  SampledRows sampled(kernel, symbols, *values, options.seed, options.far_work, products);
  if (sampled.parts_.empty()) return std::nullopt;
  return sampled;
}

std::optional<std::string> SampledRows::mistake_of(const Kernel& kernel,
                                                   const Runtime& runtime) const {
  Executor executor(program_of(kernel, symbols_), runtime, {.canaries = true});
  std::vector<GuardedBlock> blocks;
  std::vector<std::byte*> pointers;
  std::vector<const Tensor*> inputs;  // null: an output
  for (const auto& buffer : executor.program().buffers) {
    const auto bytes =
        static_cast<std::size_t>(product(buffer.shape).at(trial_.symbols)) * size_of(buffer.dtype);
    const bool is_input = buffer.kind == Buffer::Kind::kInput;
    inputs.push_back(is_input ? &trial_.inputs.at(buffer.name) : nullptr);
    blocks.emplace_back(bytes, is_input ? inputs.back()->bytes().data() : nullptr);
    if (is_input) blocks.back().turn(size_of(buffer.dtype));
    pointers.push_back(blocks.back().data());
  }
  executor.run(trial_.symbols, pointers);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].hold(blocks[i].bytes(), inputs[i] != nullptr ? inputs[i]->bytes().data() : nullptr);
  }
  executor.run(trial_.symbols, pointers);

  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto name = operand_name(static_cast<std::uint32_t>(i));
    if (!blocks[i].is_whole()) {
      return fmt::format("what lies beside '{}' was overwritten ({})", name, trial_.what);
    }
    if (inputs[i] != nullptr &&
        std::memcmp(blocks[i].data(), inputs[i]->bytes().data(), blocks[i].bytes()) != 0) {
      return fmt::format("input '{}' was overwritten ({})", name, trial_.what);
    }
  }
  for (const auto& [operand, places, expected] : parts_) {
    Tensor got(expected.value.dtype(), expected.value.shape());
    const auto size = size_of(got.dtype());
    Walk<1> walk({&places});
    for (std::int64_t i = 0; i < places.element_count(); ++i, walk.next()) {
      std::memcpy(got.bytes().data() + static_cast<std::size_t>(i) * size,
                  pointers[operand] + static_cast<std::size_t>(walk[0]) * size, size);
    }
    const auto text = difference(expected, got.view());
    if (text.empty()) continue;
    return fmt::format("output '{}': {} (of a few rows and columns; {})", operand_name(operand),
                       text, trial_.what);
  }
  return std::nullopt;
}

}  // namespace assay::compiler
