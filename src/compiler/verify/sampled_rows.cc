// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/sampled_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

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

// The symbol that the number of rows is, at `count`; the others at their least. Nothing where it is
// no symbol's matter, or cannot be as many.
std::optional<Bindings> with_rows(const Dim& rows, const Symbols& symbols, std::int64_t count) {
  Bindings values;
  for (const auto& [name, interval] : symbols) values[name] = interval.low;
  for (const auto& [name, interval] : symbols) {
    if (!(rows == Dim::symbol(name)) || interval.high < count || interval.low > count) continue;
    values[name] = count;
    return values;
  }
  return std::nullopt;
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
      const auto definition = definition_of(some[i], symbols).graph;
      const bool is_known = !(parts[i] == kernel);
      if (!is_known && interpreted_elements(definition, values) <= most_work) parts[i] = some[i];
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
    expect(part, products.interpret(definition_of(part, symbols).graph, trial_.views(), values,
                                    fingerprints));
  }
}

std::vector<SampledRows> SampledRows::of(const Kernel& kernel, const Symbols& symbols,
                                         const VerifyOptions& options, KnownProducts& products) {
  const auto whole = definition_of(kernel, symbols).graph;
  std::vector<Bindings> sizes;
  const auto rows = rows_of(kernel);
  const auto add_rows = [&](std::int64_t count) {
    if (auto values = with_rows(*rows, symbols, count)) sizes.push_back(std::move(*values));
  };
  constexpr std::int64_t kFewRows = 8;
  if (rows && !options.fitting.empty()) add_rows(kFewRows);
  if (rows && rows->at(affordable_symbols(whole, options).back()) < kRows) add_rows(kRows);
  const auto used = used_symbols(symbols, options);
  if (!options.used_at.empty()) sizes.push_back(used);
  const auto held = fitting_symbols(whole, options);
  std::vector<SampledRows> all;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto is_this = [&](const Bindings& other) { return other == sizes[i]; };
    if (std::ranges::any_of(held, is_this)) continue;
    if (std::any_of(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(i), is_this))
      continue;
    const double most = sizes[i] == used ? options.most_kernel_work : options.most_work;
    SampledRows sampled(kernel, symbols, sizes[i], options.seed, most, products);
    if (!sampled.expected_.empty()) all.push_back(std::move(sampled));
  }
  return all;
}

std::optional<SampledRows> SampledRows::beyond(std::int64_t border, const Kernel& kernel,
                                               const Symbols& symbols, const VerifyOptions& options,
                                               KnownProducts& products) {
  constexpr double kMostProducts = 4e9;
  const auto beyond = (border / kStep + 1) * kStep + 1;  // so that the last row is looked at
  const auto rows = rows_of(kernel);
  const auto values = rows ? with_rows(*rows, symbols, beyond) : std::nullopt;
  if (!values || products_of(kernel, *values) > kMostProducts) return std::nullopt;
  SampledRows sampled(kernel, symbols, *values, options.seed, options.far_work, products);
  if (sampled.expected_.empty()) return std::nullopt;
  return sampled;
}

// What a part of the kernel writes; of the rest nothing is said.
void SampledRows::expect(const Kernel& few, std::map<std::string, BoundedTensor> known) {
  for (const auto* access : written_by(few)) {
    const auto name = operand_name(access->operand);
    auto& [value, bounds] = known.at(name);
    const std::vector<double> anything(bounds.size(), std::numeric_limits<double>::infinity());
    BoundedTensor nothing{Tensor::copy(value.view()), anything};
    auto& all = expected_.try_emplace(name, std::move(nothing)).first->second;
    const auto view = fixed(access->view, trial_.symbols, value.element_count());
    const auto size = size_of(value.dtype());
    Walk<1> walk({&view});
    for (std::int64_t i = 0; i < view.element_count(); ++i, walk.next()) {
      const auto place = static_cast<std::size_t>(walk[0]);
      all.bounds[place] = bounds[place];
      std::memcpy(all.value.bytes().data() + place * size, value.bytes().data() + place * size,
                  size);
    }
  }
}

std::optional<std::string> SampledRows::mistake_of(const Kernel& kernel,
                                                   const Runtime& runtime) const {
  Executor executor(program_of(kernel, symbols_), runtime, {.canaries = true});
  const auto result = run_program(executor, trial_.views(), trial_.symbols);
  for (const auto& [name, expected] : expected_) {
    const auto text = difference(expected, result.outputs.at(name).view());
    if (text.empty()) continue;
    return fmt::format("output '{}': {} (of a few rows and columns; {})", name, text, trial_.what);
  }
  return std::nullopt;
}

}  // namespace assay::compiler
