// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/sampled_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "compiler/program/kernel_graph.h"
#include "compiler/reference/walk.h"
#include "compiler/verify/guarded_block.h"

namespace assay::compiler {
namespace {

// The first row, the last, and one between: 65 is no multiple of anything that rows are cut by.
constexpr std::int64_t kStep = 65, kRows = 2 * kStep + 1;

// Where the kernel has its rows: an axis of what it reads first, and of what it writes.
std::optional<std::size_t> row_axis(const Kernel& kernel) {
  if (const auto* matmul = std::get_if<Matmul>(&kernel.work)) return matmul->a.view.rank() - 2;
  if (std::holds_alternative<GroupedMatmul>(kernel.work)) return 0;
  return std::nullopt;
}
std::optional<Dim> rows_of(const Kernel& kernel) {
  const auto axis = row_axis(kernel);
  if (!axis) return std::nullopt;
  const auto* grouped = std::get_if<GroupedMatmul>(&kernel.work);
  return (grouped != nullptr ? grouped->a : std::get<Matmul>(kernel.work).a).view.shape[*axis];
}
// How many it adds up in all.
double products_of(const Kernel& kernel, const Bindings& symbols) {
  const auto* grouped = std::get_if<GroupedMatmul>(&kernel.work);
  const auto& a = grouped != nullptr ? grouped->a : std::get<Matmul>(kernel.work).a;
  const auto& b = grouped != nullptr ? grouped->weights : std::get<Matmul>(kernel.work).b;
  const auto columns = b.view.shape.back();
  return static_cast<double>(product(a.view.shape).at(symbols)) *
         static_cast<double>(columns.at(symbols));
}

void pick(Access& access, std::size_t axis, std::int64_t step) {
  access.view = access.view.slice(axis, 0, access.view.shape[axis], step);
}
// What is one for each row has no columns.
void pick(Region& region, std::size_t axis, std::int64_t step) {
  const bool is_column = axis + 1 == region.shape.size();
  const auto length = region.shape[axis];
  region.shape[axis] = View::contiguous({length}).slice(0, 0, length, step).shape[0];
  for (std::size_t i = 1; i < region.values.size(); ++i) {
    auto& value = region.values[i];
    const bool is_read = value.op == Op::kInput || value.op == Op::kIota;
    if (is_read && !(is_column && value.of_row)) pick(value.access, axis, step);
  }
  for (auto& store : region.stores) {
    if (!(is_column && region.values[store.value].of_row)) pick(store.to, axis, step);
  }
}

// Every step-th row of all that the kernel reads and writes.
Kernel with_few_rows(Kernel kernel, std::size_t axis, std::int64_t step) {
  if (auto* matmul = std::get_if<Matmul>(&kernel.work)) {
    pick(matmul->a, axis, step);
    matmul->epilogue ? pick(*matmul->epilogue, axis, step) : pick(matmul->out, axis, step);
  } else if (auto* grouped = std::get_if<GroupedMatmul>(&kernel.work)) {
    pick(grouped->a, axis, step);
    pick(grouped->expert, axis, step);
    pick(grouped->out, axis, step);
  }
  return kernel;
}
// Every step-th column, of all rows; they lie behind `row_axis`.
Kernel with_few_columns(Kernel kernel, std::size_t row_axis, std::int64_t step) {
  const auto axis = row_axis + 1;
  if (auto* grouped = std::get_if<GroupedMatmul>(&kernel.work)) {
    pick(grouped->weights, 2, step);
    pick(grouped->out, axis, step);
  } else if (auto* matmul = std::get_if<Matmul>(&kernel.work)) {
    pick(matmul->b, axis, step);
    matmul->epilogue ? pick(*matmul->epilogue, axis, step) : pick(matmul->out, axis, step);
  }
  return kernel;
}

std::vector<const Access*> written_by(const Kernel& kernel) {
  if (const auto* grouped = std::get_if<GroupedMatmul>(&kernel.work)) return {&grouped->out};
  const auto& matmul = std::get<Matmul>(kernel.work);
  if (!matmul.epilogue) return {&matmul.out};
  std::vector<const Access*> all;
  for (const auto& store : matmul.epilogue->stores) all.push_back(&store.to);
  return all;
}

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
                         std::int64_t step, const VerifyOptions& options, double most_work,
                         KnownProducts& products)
    : symbols_(symbols),
      trial_(make_trial(definition_of(kernel, symbols).graph, values, InputStyle::kOrdinary,
                        options.seed)) {
  std::map<std::string, std::uint64_t> fingerprints;
  for (const auto& [name, tensor] : trial_.inputs) {
    fingerprints.emplace(name, fingerprint_of(tensor.bytes(), 1));
  }
  const auto axis = *row_axis(kernel);
  std::vector<Kernel> parts = {with_few_columns(kernel, axis, step)};
  if (rows_of(kernel)->at(values) >= kRows) parts.push_back(with_few_rows(kernel, axis, step));
  for (const auto& part : parts) {
    const auto definition = definition_of(part, symbols).graph;
    if (interpreted_elements(definition, values) > most_work) continue;
    expect(part, products.interpret(definition, trial_.views(), values, fingerprints));
  }
}

std::vector<SampledRows> SampledRows::of(const Kernel& kernel, const Symbols& symbols,
                                         const VerifyOptions& options, KnownProducts& products) {
  const auto rows = rows_of(kernel);
  if (!rows) return {};
  const auto whole = definition_of(kernel, symbols).graph;
  const auto held = fitting_symbols(whole, options);
  constexpr std::int64_t kFewRows = 8;
  std::set<std::int64_t> counts;
  if (!options.fitting.empty()) counts.insert(kFewRows);
  if (rows->at(affordable_symbols(whole, options).back()) < kRows) counts.insert(kRows);
  for (const auto& [name, value] : options.used_at) {
    if (*rows == Dim::symbol(name)) counts.insert(value);
  }
  std::vector<SampledRows> all;
  for (const auto count : counts) {
    const auto values = with_rows(*rows, symbols, count);
    if (!values || std::ranges::find(held, *values) != held.end()) continue;
    SampledRows sampled(kernel, symbols, *values, kStep, options, options.most_work, products);
    if (!sampled.expected_.empty()) all.push_back(std::move(sampled));
  }
  return all;
}

std::optional<SampledRows> SampledRows::beyond(std::int64_t border, const Kernel& kernel,
                                               const Symbols& symbols, const VerifyOptions& options,
                                               KnownProducts& products) {
  constexpr std::int64_t kFew = 7, kFarStep = 8 * kStep + 1;
  constexpr double kMostProducts = 4e9;
  const auto rows = rows_of(kernel);
  const auto values = rows ? with_rows(*rows, symbols, border + kFew) : std::nullopt;
  if (!values) return std::nullopt;
  if (products_of(kernel, *values) > kMostProducts) return std::nullopt;
  SampledRows sampled(kernel, symbols, *values, kFarStep, options, options.far_work, products);
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
