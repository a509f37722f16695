// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/plan/draft.h"

#include <algorithm>
#include <utility>

#include "einsum/plan/hoist.h"
#include "einsum/plan/terms.h"

namespace assay::einsum {
namespace {

// The labels of the result first: a part of it is done at a time.
std::vector<Slice> slices_of(const Problem& problem, const Parts& parts) {
  std::vector<Slice> all;
  for (const bool summed : {false, true}) {
    for (std::size_t l = 0; l < parts.size(); ++l) {
      const Label label = static_cast<Label>(l);
      const bool in_result = std::ranges::count(problem.output, label) != 0;
      if (parts[l] == problem.extents[l] || in_result == summed) continue;
      all.push_back({label, parts[l], problem.extents[l] / parts[l], summed});
    }
  }
  return all;
}

}  // namespace

double bytes_of(DType dtype, const Shape& shape) {
  return static_cast<double>(shape.element_count()) * static_cast<double>(size_of(dtype));
}

Draft::Draft(Plan& made, const TimeModel& times)
    : plan(made), model(times), parts(made.problem.extents) {
  for (const auto& operand : plan.operands) {
    fixed_bytes += bytes_of(operand.dtype, operand.shape);
    if (operand.dtype != plan.compute) {
      fixed_bytes += bytes_of(plan.compute, operand.shape);
      plan.operand_strides.push_back(row_major_strides(operand.shape));
    } else {
      plan.operand_strides.push_back(operand.strides);
    }
  }
  const Shape out = plan.output_shape();
  fixed_bytes += bytes_of(plan.result, out);
  if (plan.result != plan.compute) fixed_bytes += bytes_of(plan.compute, out);
}

StepsInput Draft::input(const Parts& of) const {
  StepsInput result;
  result.problem = &plan.problem;
  result.extents = of;
  for (std::size_t i = 0; i < plan.operands.size(); ++i) {
    result.operands.push_back(
        layout_of(plan.problem.terms[i], plan.operands[i].shape, plan.operand_strides[i], of));
  }
  const Shape out = plan.output_shape();
  result.output = layout_of(plan.problem.output, out, row_major_strides(out), of);
  result.dtype = plan.compute;
  result.threads = plan.options.threads;
  if (plan.options.memory) {
    result.available = static_cast<double>(*plan.options.memory) - fixed_bytes;
  }
  return result;
}

Network Draft::network(const StepsInput& input, std::vector<LabelSet> terms) const {
  Network result;
  for (const auto e : input.extents) result.extents.push_back(static_cast<double>(e));
  result.terms = std::move(terms);
  result.output = labels_of(input.output);
  return result;
}

std::vector<LabelSet> Draft::operand_labels() const {
  std::vector<LabelSet> sets(plan.operands.size());
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const auto& labels = plan.problem.terms[i];
    for (std::size_t axis = 0; axis < labels.size(); ++axis) {
      if (plan.operands[i].shape[axis] != 1) sets[i].insert(labels[axis]);
    }
  }
  return sets;
}

double Draft::cost(const StepsInput& input, const Tree& tree) const {
  const PairTimeModel time(model, plan.compute);
  return cost_of(network(input, reduced_sets(input)), tree, plan.options.objective, &time);
}

void Draft::take(Steps steps, const StepsInput& input) {
  plan.slices = slices_of(plan.problem, input.extents);
  plan.steps = std::move(steps.steps);
  const auto hoisted = hoist(plan.steps, plan.slices,
                             {.operands = operand_labels(),
                              .element_bytes = static_cast<double>(size_of(plan.compute)),
                              .available = input.available});
  plan.mac = hoisted.mac;
  plan.flop = hoisted.flop;
  plan.predicted_s = hoisted.predicted_s;
  plan.peak_bytes = fixed_bytes + hoisted.peak_bytes;
}

bool Draft::is_squeezed() const { return std::ranges::any_of(plan.steps, &Step::squeezed); }

}  // namespace assay::einsum
