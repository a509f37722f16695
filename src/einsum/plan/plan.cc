// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// How a plan comes to be, from top to bottom: make_plan() at the end of this file is the story.
#include "einsum/plan/plan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/names.h"
#include "base/units.h"
#include "einsum/kernels/reference.h"
#include "einsum/plan/cut.h"
#include "einsum/plan/draft.h"
#include "einsum/plan/dtypes.h"
#include "einsum/plan/steps.h"
#include "einsum/plan/terms.h"

namespace assay::einsum {
namespace {

constexpr auto kBackends = make_names<Backend>(
    {{Backend::kReference, "reference"}, {Backend::kBlas, "blas"}, {Backend::kCuda, "cuda"}});

// The plain loops: one step over all labels at once.
void plan_loops(Plan& plan) {
  const auto& options = plan.options;
  double all_labels = 1, summed = 1;
  for (std::size_t l = 0; l < plan.problem.extents.size(); ++l) {
    const auto extent = static_cast<double>(plan.problem.extents[l]);
    all_labels *= extent;
    if (std::ranges::count(plan.problem.output, static_cast<Label>(l)) == 0) summed *= extent;
  }
  const PairSize all{.m = summed == 0 ? 0 : all_labels / summed, .k = summed};
  plan.mac = all.mac();
  plan.flop = all.flop();
  plan.path.method = "loops";
  plan.path.optimal = plan.problem.has_zero_extent();
  plan.peak_bytes = bytes_of(plan.result, plan.output_shape());
  std::vector<Shape> copied;
  for (const auto& operand : plan.operands) {
    plan.peak_bytes += bytes_of(operand.dtype, operand.shape);
    copied.push_back(operand.shape);
  }
  if (options.backend == Backend::kReference) {
    copied.push_back(plan.output_shape());
    plan.peak_bytes += reference_bytes(copied, is_complex(plan.result));
  }
  if (options.memory && plan.peak_bytes > static_cast<double>(*options.memory)) {
    fail(
        "einsum: operands, result and copies of them in f64 take {}, more than the memory bound "
        "of {}",
        format_bytes(plan.peak_bytes), format_bytes(static_cast<double>(*options.memory)));
  }
}

// The best order that the search finds for parts of the labels.
PathReport find_path(const Draft& draft, const StepsInput& input) {
  const PlanOptions& wanted = draft.plan.options;
  const auto sets = reduced_sets(input);
  const auto joined = join_equal_terms(sets, labels_of(input.output));
  const PairTimeModel time(draft.model, draft.plan.compute);
  SearchOptions options{.objective = wanted.objective,
                        .time = &time,
                        .exact_limit = wanted.exact_limit,
                        .tries = wanted.tries,
                        .seed = wanted.seed,
                        .threads = wanted.threads,
                        .budget_s = wanted.budget_s};
  const Network inner = draft.network(input, joined.sets);
  std::optional<SearchResult> found;
  if (input.available) {
    options.max_elements = *input.available / static_cast<double>(size_of(draft.plan.compute));
    found = search(inner, options);
    options.max_elements = std::numeric_limits<double>::infinity();
  }
  if (!found) found = search(inner, options);
  check(found.has_value(), "a search without bounds finds an order");
  const Network whole = draft.network(input, sets);
  const Tree tree = append(joined.merges, joined.nodes, found->tree, sets.size());
  std::vector<double> sizes;
  for (const auto& set : node_labels(whole, tree)) sizes.push_back(product_of_extents(whole, set));
  const double joins = draft.cost(input, tree) - found->cost;
  return {found->method, found->cost + joins, found->lower_bound + joins, found->optimal,
          in_memory_order(tree, sets.size(), sizes)};
}

// Finds an order, unless one is `known`, and a kernel for each of its steps; cuts labels until that
// fits the memory, and further where it makes room for faster kernels.
void plan_steps(Plan& plan, const TimeModel& model, const PathReport* known) {
  Draft draft(plan, model);
  const auto bound = plan.options.memory ? static_cast<double>(*plan.options.memory)
                                         : std::numeric_limits<double>::infinity();
  if (draft.fixed_bytes > bound) {
    fail("einsum: operands and result alone take {}, more than the memory bound of {}",
         format_bytes(draft.fixed_bytes), format_bytes(bound));
  }
  Tree uncut;
  double least_peak = std::numeric_limits<double>::infinity();
  for (bool first = true;; first = false) {
    const StepsInput input = draft.input(draft.parts);
    plan.path = known != nullptr && first ? *known : find_path(draft, input);
    if (first) uncut = plan.path.tree;
    Steps steps = make_steps(input, plan.path.tree, model);
    const double peak = draft.fixed_bytes + steps.peak_bytes;
    if (peak <= bound) {
      draft.take(std::move(steps), input);
      if (!first) try_parts(draft, draft.parts, uncut, "order of the uncut problem");
      break;
    }
    least_peak = std::min(least_peak, peak);
    if (!cut_one_more(draft, input)) {
      fail("einsum: no plan was found within the memory bound of {}: the best one needs {}",
           format_bytes(bound), format_bytes(least_peak));
    }
  }
  if (plan.options.memory) cut_further(draft);
  if (draft.is_squeezed()) plan.path.optimal = false;
}

// What crosses the bus, and how long that takes: operands that are not there yet, and the result.
void add_transfers(Plan& plan, const TimeModel& model) {
  for (const auto& operand : plan.operands) {
    if (operand.resident) continue;
    const double bytes = bytes_of(operand.dtype, operand.shape);
    plan.transfers.to_bytes += bytes;
    plan.transfers.seconds += model.to_device.seconds(bytes);
  }
  if (!plan.options.result_stays) {
    plan.transfers.from_bytes = bytes_of(plan.result, plan.output_shape());
    plan.transfers.seconds += model.from_device.seconds(plan.transfers.from_bytes);
  }
  plan.predicted_s += plan.transfers.seconds;
}

}  // namespace

std::string_view name_of(Backend backend) { return kBackends[backend]; }

Backend backend_from_name(std::string_view name) {
  if (const auto backend = kBackends.find(name)) return *backend;
  fail("einsum: the backend is reference, blas or cuda, not '{}'", name);
}

OperandSpec OperandSpec::dense(DType dtype, Shape shape) {
  auto strides = row_major_strides(shape);
  return {dtype, std::move(shape), std::move(strides)};
}

OperandSpec OperandSpec::of(const TensorView& view) {
  return {view.dtype(), view.shape(), view.strides()};
}

std::int64_t Plan::slice_count() const {
  std::int64_t count = 1;
  for (const auto& slice : slices) count *= slice.parts;
  return count;
}

std::int64_t Plan::runs_of(const Step& step) const {
  std::int64_t count = 1;
  for (int k = 0; k < step.depth; ++k) count *= slices[static_cast<std::size_t>(k)].parts;
  return count;
}

Plan make_plan(const Notation& notation, std::vector<OperandSpec> operands,
               const PlanOptions& options, const TimeModel& model, const PathReport* path) {
  check((options.backend == Backend::kCuda) == model.on_device,
        "a device's plan is made by a device's model");
  // 1. What the labels mean for these shapes.
  Plan plan;
  std::vector<Shape> shapes;
  for (const auto& operand : operands) shapes.push_back(operand.shape);
  plan.problem = bind_labels(notation, shapes);
  plan.options = options;
  plan.operands = std::move(operands);
  plan.calibrated = model.calibrated();

  // 2. In which dtypes.
  const auto [compute, result] = choose_dtypes(plan.operands, options);
  plan.compute = compute;
  plan.result = result;

  // 3. The plain loops need no order, and neither does nothing at all; anything else is an order of
  // pairwise steps, a kernel for each, and slices where memory is short.
  if (options.backend == Backend::kReference || plan.problem.has_zero_extent()) {
    plan_loops(plan);
  } else {
    plan_steps(plan, model, path);
  }
  if (options.backend == Backend::kCuda) add_transfers(plan, model);
  return plan;
}

}  // namespace assay::einsum
