// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/sampled_rows.h"

#include <fmt/format.h>

#include <limits>

#include "compiler/program/kernel_graph.h"
#include "compiler/reference/walk.h"

namespace assay::compiler {
namespace {

// The first row, the last, and one between: 65 is no multiple of anything that rows are cut by.
constexpr std::int64_t kStep = 65, kRows = 2 * kStep + 1;

// Where the kernel has its rows: an axis of what it writes.
std::optional<std::size_t> row_axis(const Kernel& kernel) {
  if (const auto* matmul = std::get_if<Matmul>(&kernel.work)) return matmul->a.view.rank() - 2;
  if (std::holds_alternative<GroupedMatmul>(kernel.work)) return 0;
  return std::nullopt;
}

// Every kStep-th row of all that the kernel reads and writes.
class RowPicker {
 public:
  RowPicker(std::size_t axis, Dim rows) : axis_(axis), rows_(std::move(rows)) {}
  void pick(Access& access) const { access.view = access.view.slice(axis_, 0, rows_, kStep); }
  void pick(Region& region) const {
    region.shape[axis_] = View::contiguous({rows_}).slice(0, 0, rows_, kStep).shape[0];
    for (std::size_t i = 1; i < region.values.size(); ++i) {
      auto& value = region.values[i];
      if (value.op == Op::kInput || value.op == Op::kIota) pick(value.access);
    }
    for (auto& store : region.stores) pick(store.to);
  }
  Kernel picked(Kernel kernel) const {
    if (auto* matmul = std::get_if<Matmul>(&kernel.work)) {
      pick(matmul->a);
      if (matmul->epilogue)
        pick(*matmul->epilogue);
      else
        pick(matmul->out);
    } else if (auto* grouped = std::get_if<GroupedMatmul>(&kernel.work)) {
      pick(grouped->a);
      pick(grouped->expert);
      pick(grouped->out);
    }
    return kernel;
  }

 private:
  std::size_t axis_;
  Dim rows_;
};

std::vector<const Access*> written_by(const Kernel& kernel) {
  if (const auto* grouped = std::get_if<GroupedMatmul>(&kernel.work)) return {&grouped->out};
  const auto& matmul = std::get<Matmul>(kernel.work);
  if (!matmul.epilogue) return {&matmul.out};
  std::vector<const Access*> all;
  for (const auto& store : matmul.epilogue->stores) all.push_back(&store.to);
  return all;
}

// The symbol that the number of rows is, at kRows; the others at their least. Nothing where it is
// no symbol's matter, or cannot be as many.
std::optional<Bindings> many_rows(const Dim& rows, const Symbols& symbols) {
  Bindings values;
  for (const auto& [name, interval] : symbols) values[name] = interval.low;
  for (const auto& [name, interval] : symbols) {
    if (!(rows == Dim::symbol(name)) || interval.high < kRows || interval.low > kRows) continue;
    values[name] = kRows;
    return values;
  }
  return std::nullopt;
}

}  // namespace

std::optional<SampledRows> SampledRows::of(const Kernel& kernel, const Symbols& symbols,
                                           const VerifyOptions& options) {
  const auto axis = row_axis(kernel);
  if (!axis) return std::nullopt;
  const auto& rows = std::holds_alternative<GroupedMatmul>(kernel.work)
                         ? std::get<GroupedMatmul>(kernel.work).a.view.shape[*axis]
                         : std::get<Matmul>(kernel.work).a.view.shape[*axis];
  const auto values = many_rows(rows, symbols);
  if (!values) return std::nullopt;
  const auto whole = definition_of(kernel, symbols).graph;
  if (rows.at(affordable_symbols(whole, options).back()) >= kRows) return std::nullopt;
  const auto few = RowPicker(*axis, rows).picked(kernel);
  const auto definition = definition_of(few, symbols).graph;
  if (interpreted_elements(definition, *values) > options.most_work) return std::nullopt;
  SampledRows sampled;
  sampled.symbols_ = symbols;
  sampled.trial_ = make_trial(whole, *values, InputStyle::kOrdinary, options.seed);
  auto expected = interpret_with_bounds(definition, sampled.trial_.views(), *values);
  for (const auto* access : written_by(few)) {
    auto& [value, bounds] = expected.at(operand_name(access->operand));
    std::vector<double> of_few(bounds.size(), std::numeric_limits<double>::infinity());
    const auto view = fixed(access->view, *values, value.element_count());
    Walk<1> walk({&view});
    for (std::int64_t i = 0; i < view.element_count(); ++i, walk.next()) {
      const auto at = static_cast<std::size_t>(walk[0]);
      of_few[at] = bounds[at];
    }
    bounds = std::move(of_few);
  }
  sampled.expected_ = std::move(expected);
  return sampled;
}

std::optional<std::string> SampledRows::mistake_of(const Kernel& kernel,
                                                   const Runtime& runtime) const {
  Executor executor(program_of(kernel, symbols_), runtime, {.canaries = true});
  const auto result = run_program(executor, trial_.views(), trial_.symbols);
  for (const auto& [name, expected] : expected_) {
    const auto text = difference(expected, result.outputs.at(name).view());
    if (text.empty()) continue;
    return fmt::format("output '{}': {} (of a few rows; {})", name, text, trial_.what);
  }
  return std::nullopt;
}

}  // namespace assay::compiler
