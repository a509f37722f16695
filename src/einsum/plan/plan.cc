// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// How a plan comes to be, from top to bottom: make_plan() at the end of this file is the story.
#include "einsum/plan/plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "einsum/kernels/reference.h"
#include "einsum/plan/hoist.h"
#include "einsum/plan/steps.h"
#include "einsum/plan/terms.h"

namespace assay::einsum {
namespace {

bool is_supported(DType d) {
  return d == DType::kBF16 || d == DType::kF32 || d == DType::kF64 || is_complex(d);
}

// The smallest dtype that holds all operands: bf16 < f32 < f64, complex if one is.
DType common_dtype(const std::vector<OperandSpec>& operands) {
  bool complex = false, wide = false, narrow = true;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const DType d = operands[i].dtype;
    if (!is_supported(d)) {
      fail("einsum: operand {} has dtype {}; bf16, f32, f64, c64 and c128 can be contracted", i,
           name_of(d));
    }
    complex |= is_complex(d);
    wide |= d == DType::kF64 || d == DType::kC128;
    narrow &= d == DType::kBF16;
  }
  if (complex) return wide ? DType::kC128 : DType::kC64;
  return wide ? DType::kF64 : narrow ? DType::kBF16 : DType::kF32;
}

// Sums of bf16 products are kept in f32.
DType compute_dtype(DType common, Precision precision) {
  if (precision == Precision::kDouble) return is_complex(common) ? DType::kC128 : DType::kF64;
  return common == DType::kBF16 ? DType::kF32 : common;
}

void check_dtypes(const Plan& plan) {
  if (!is_supported(plan.result)) {
    fail("einsum: the result can be bf16, f32, f64, c64 or c128, not {}", name_of(plan.result));
  }
  if (is_complex(plan.compute) && !is_complex(plan.result)) {
    fail("einsum: a complex contraction has no real result, dtype {}", name_of(plan.result));
  }
}

double bytes_of(DType dtype, const Shape& shape) {
  return static_cast<double>(shape.element_count()) * static_cast<double>(size_of(dtype));
}

// Labels up to which plans are looked at that cut any of them, and any two.
constexpr std::size_t kFewLabels = 16, kPairedLabels = 4;

// The largest divisor below a part, so that all parts are alike.
std::int64_t next_smaller_part(std::int64_t part) {
  std::int64_t divisor = 2;
  while (part % divisor != 0) ++divisor;
  return part / divisor;
}

class Planner {
 public:
  Planner(Plan& plan, const TimeModel& model) : plan_(plan), model_(model) {
    extents_ = plan.problem.extents;
    // Everything that lives as long as the run: operands, their copies in the dtype of the steps,
    // the result, and its copy in that dtype.
    for (std::size_t i = 0; i < plan.operands.size(); ++i) {
      const auto& operand = plan.operands[i];
      fixed_bytes_ += bytes_of(operand.dtype, operand.shape);
      if (operand.dtype != plan.compute) {
        fixed_bytes_ += bytes_of(plan.compute, operand.shape);
        plan.operand_strides.push_back(row_major_strides(operand.shape));
      } else {
        plan.operand_strides.push_back(operand.strides);
      }
    }
    const Shape out = plan.output_shape();
    fixed_bytes_ += bytes_of(plan.result, out);
    if (plan.result != plan.compute) fixed_bytes_ += bytes_of(plan.compute, out);
  }

  // Finds an order and lowers it; slices labels until it fits the memory, and further where that
  // makes room for faster kernels.
  void run(const Axes& output_strides, const PathReport* known) {
    output_strides_ = output_strides;
    const auto budget = plan_.options.memory;
    if (budget && fixed_bytes_ > static_cast<double>(*budget)) {
      fail("einsum: operands and result alone take {}, more than the memory bound of {}",
           format_bytes(fixed_bytes_), format_bytes(static_cast<double>(*budget)));
    }
    if (known != nullptr) plan_.path = *known;
    for (bool first = true;; first = false) {
      const StepsInput input = steps_input();
      if (known == nullptr || !first) find_path(input);
      if (first) uncut_ = plan_.path.tree;
      Steps steps = make_steps(input, plan_.path.tree, model_);
      const double peak = fixed_bytes_ + steps.peak_bytes;
      least_peak_ = first ? peak : std::min(least_peak_, peak);
      if (!budget || peak <= static_cast<double>(*budget)) {
        plan_.slices = slices();
        finish(std::move(steps), input);
        if (!first) improve(extents_, uncut_, "order of the uncut problem");
        if (budget) look_further();
        if (is_squeezed()) plan_.path.optimal = false;
        return;
      }
      if (!slice_one_more(input)) {
        fail("einsum: no plan was found within the memory bound of {}: the best one needs {}",
             format_bytes(static_cast<double>(*budget)), format_bytes(least_peak_));
      }
    }
  }

 private:
  StepsInput steps_input() const {
    StepsInput input;
    input.problem = &plan_.problem;
    input.extents = extents_;
    for (std::size_t i = 0; i < plan_.operands.size(); ++i) {
      input.operands.push_back(layout_of(plan_.problem.terms[i], plan_.operands[i].shape,
                                         plan_.operand_strides[i], extents_));
    }
    input.output = layout_of(plan_.problem.output, plan_.output_shape(), output_strides_, extents_);
    input.dtype = plan_.compute;
    input.threads = plan_.options.threads;
    if (plan_.options.memory) {
      input.available = static_cast<double>(*plan_.options.memory) - fixed_bytes_;
    }
    return input;
  }

  Network network(const StepsInput& input, std::vector<LabelSet> sets) const {
    Network result;
    for (const auto e : input.extents) result.extents.push_back(static_cast<double>(e));
    result.terms = std::move(sets);
    result.output = labels_of(input.output);
    return result;
  }

  void find_path(const StepsInput& input) {
    const auto sets = reduced_sets(input);
    const auto joined = join_equal_terms(sets, labels_of(input.output));
    const PairTimeModel time(model_, plan_.compute);
    SearchOptions options{.objective = plan_.options.objective,
                          .time = &time,
                          .exact_limit = plan_.options.exact_limit,
                          .tries = plan_.options.tries,
                          .seed = plan_.options.seed,
                          .threads = plan_.options.threads,
                          .budget_s = plan_.options.budget_s};
    const Network inner = network(input, joined.sets);
    std::optional<SearchResult> found;
    if (input.available) {
      options.max_elements = *input.available / static_cast<double>(size_of(plan_.compute));
      found = search(inner, options);
      options.max_elements = std::numeric_limits<double>::infinity();
    }
    if (!found) found = search(inner, options);
    check(found.has_value(), "a search without bounds finds an order");
    const Network whole = network(input, sets);
    const Tree tree = append(joined.merges, joined.nodes, found->tree, sets.size());
    std::vector<double> sizes;
    for (const auto& set : node_labels(whole, tree))
      sizes.push_back(product_of_extents(whole, set));
    const double joins = cost_of(whole, tree, options.objective, &time) - found->cost;
    plan_.path = {found->method, found->cost + joins, found->lower_bound + joins, found->optimal,
                  in_memory_order(tree, sets.size(), sizes)};
  }

  // Bytes of intermediates that are alive at the same time, were `extents` used, and the work of
  // all slices, were each step run for the parts of those labels only that its operands have.
  double live_peak(const StepsInput& input, const std::vector<std::int64_t>& extents,
                   double& mac) const {
    Network whole = network(input, reduced_sets(input));
    for (std::size_t l = 0; l < extents.size(); ++l) {
      whole.extents[l] = static_cast<double>(extents[l]);
    }
    const auto& tree = plan_.path.tree;
    const auto nodes = node_labels(whole, tree);
    double live = 0, peak = 0;
    auto seen = operand_labels();
    mac = 0;
    for (const auto& [a, b] : tree.merges) {
      const auto first = static_cast<std::size_t>(a), second = static_cast<std::size_t>(b);
      double work = product_of_extents(whole, nodes[first] | nodes[second]);
      seen.push_back(seen[first] | seen[second]);
      seen.back().for_each([&](Label l) {
        const auto at = static_cast<std::size_t>(l);
        work *= static_cast<double>(plan_.problem.extents[at] / extents[at]);
      });
      mac += work;
    }
    const auto size = [&](int node) {
      return static_cast<std::size_t>(node) < whole.terms.size()
                 ? 0.0
                 : product_of_extents(whole, nodes[static_cast<std::size_t>(node)]);
    };
    for (std::size_t i = 0; i + 1 < tree.merges.size(); ++i) {
      live += product_of_extents(whole, nodes[whole.terms.size() + i]);
      peak = std::max(peak, live);
      live -= size(tree.merges[i].first) + size(tree.merges[i].second);
    }
    return peak;
  }

  // Cuts the label whose next smaller part helps most: the lowest peak, then the least extra work.
  // Returns whether there was one.
  bool slice_one_more(const StepsInput& input) {
    Label best = -1;
    double best_peak = 0, best_work = 0;
    std::int64_t best_chunk = 0;
    for (std::size_t l = 0; l < extents_.size(); ++l) {
      if (extents_[l] <= 1) continue;
      auto tried = extents_;
      tried[l] = next_smaller_part(tried[l]);
      double mac = 0;
      const double peak = live_peak(input, tried, mac);
      if (best < 0 || std::pair(peak, mac) < std::pair(best_peak, best_work)) {
        best = static_cast<Label>(l);
        best_peak = peak;
        best_work = mac;
        best_chunk = tried[l];
      }
    }
    if (best < 0) return false;
    extents_[static_cast<std::size_t>(best)] = best_chunk;
    return true;
  }

  // The labels of the result first: a part of it is done at a time.
  std::vector<Slice> slices() const {
    std::vector<Slice> all;
    for (const bool summed : {false, true}) {
      for (std::size_t l = 0; l < extents_.size(); ++l) {
        const Label label = static_cast<Label>(l);
        const bool in_result = std::ranges::count(plan_.problem.output, label) != 0;
        if (extents_[l] == plan_.problem.extents[l] || in_result == summed) continue;
        all.push_back({label, extents_[l], plan_.problem.extents[l] / extents_[l], summed});
      }
    }
    return all;
  }

  bool is_squeezed() const { return std::ranges::any_of(plan_.steps, &Step::squeezed); }

  // What came of a plan that was looked at: whether it is taken, and whether no kernel in it lacks
  // room, so that smaller parts would gain nothing.
  struct Look {
    bool faster = false, roomy = false;
  };

  // Takes the plan with these parts and this order in place of the one at hand, where it fits and
  // is faster in all: the order that is best for one slice need not be, if much of another's work
  // is the same for all slices and need not be repeated.
  Look improve(std::vector<std::int64_t> extents, const Tree& tree, const char* method) {
    std::swap(extents_, extents);
    const StepsInput input = steps_input();
    Steps steps = make_steps(input, tree, model_);
    if (steps.peak_bytes > *input.available) {
      extents_ = std::move(extents);
      return {};
    }
    const Plan found = plan_;
    plan_.slices = slices();
    finish(std::move(steps), input);
    const Look look = {plan_.predicted_s < found.predicted_s, !is_squeezed()};
    if (!look.faster) {
      plan_ = found;
      extents_ = std::move(extents);
      return look;
    }
    const PairTimeModel time(model_, plan_.compute);
    const auto whole = network(input, reduced_sets(input));
    plan_.path.cost = cost_of(whole, tree, plan_.options.objective, &time);
    plan_.path.optimal = tree.merges.size() <= 1;
    if (!plan_.path.optimal) plan_.path.method = method;
    plan_.path.lower_bound =
        plan_.path.optimal ? plan_.path.cost : std::min(plan_.path.cost, plan_.path.lower_bound);
    plan_.path.tree = tree;
    return look;
  }

  // Kernels that need copies may have no room for them beside what lives already, although a part
  // of the problem would leave them enough; and the first plan that fits need not be the fastest.
  // Labels are cut into ever smaller parts, as long as one of these plans is faster. Of a large
  // network, only labels of steps whose kernel had no room; of a small one, two labels at a time.
  void look_further() {
    const Tree order = plan_.path.tree;
    const bool is_small = extents_.size() <= kPairedLabels;  // every cut can be tried
    // Cuts one label of `parts` further and further; whether that gained something.
    const auto cut = [&](std::vector<std::int64_t> parts, std::size_t l) {
      Look all;
      while (parts[l] > 1 && (!all.roomy || is_small)) {
        parts[l] = next_smaller_part(parts[l]);
        const Look look = improve(parts, order, "order of larger parts");
        all.faster |= look.faster;
        all.roomy = look.roomy;
      }
      return all.faster;
    };
    if (is_small) {
      for (std::size_t l = 0; l < extents_.size(); ++l) {
        for (auto parts = plan_.problem.extents; parts[l] > 1;) {
          parts[l] = next_smaller_part(parts[l]);
          for (std::size_t other = l + 1; other < extents_.size(); ++other) cut(parts, other);
        }
      }
    }
    for (bool faster = true; faster;) {
      faster = false;
      LabelSet labels;
      for (const auto& step : plan_.steps) {
        if (step.squeezed || extents_.size() <= kFewLabels) {
          labels = labels | labels_of(step.a) | labels_of(step.b);
        }
      }
      const auto before = extents_;
      labels.for_each([&](Label l) { faster |= cut(before, static_cast<std::size_t>(l)); });
    }
  }

  void finish(Steps steps, const StepsInput& input) {
    plan_.steps = std::move(steps.steps);
    const auto hoisted = hoist(plan_.steps, plan_.slices,
                               {.operands = operand_labels(),
                                .element_bytes = static_cast<double>(size_of(plan_.compute)),
                                .available = input.available});
    plan_.mac = hoisted.mac;
    plan_.flop = hoisted.flop;
    plan_.predicted_s = hoisted.predicted_s;
    plan_.peak_bytes = fixed_bytes_ + hoisted.peak_bytes;
  }

  // The labels along which each operand changes.
  std::vector<LabelSet> operand_labels() const {
    std::vector<LabelSet> sets(plan_.operands.size());
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const auto& labels = plan_.problem.terms[i];
      for (std::size_t axis = 0; axis < labels.size(); ++axis) {
        if (plan_.operands[i].shape[axis] != 1) sets[i].insert(labels[axis]);
      }
    }
    return sets;
  }

  Plan& plan_;
  const TimeModel& model_;
  std::vector<std::int64_t> extents_;
  Axes output_strides_;
  Tree uncut_;  // the order before anything was cut
  double fixed_bytes_ = 0, least_peak_ = 0;
};

}  // namespace

std::string_view name_of(Backend backend) {
  return backend == Backend::kReference ? "reference" : "blas";
}

Backend backend_from_name(std::string_view name) {
  for (const auto backend : {Backend::kReference, Backend::kBlas}) {
    if (name_of(backend) == name) return backend;
  }
  if (name == "cuda")
    throw EnvironmentError("einsum: this program was built without backend 'cuda'");
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
  // 1. What the labels mean for these shapes.
  Plan plan;
  std::vector<Shape> shapes;
  for (const auto& operand : operands) shapes.push_back(operand.shape);
  plan.problem = bind_labels(notation, shapes);
  plan.options = options;
  plan.operands = std::move(operands);
  plan.calibrated = model.calibrated();

  // 2. In which dtypes.
  const DType common = common_dtype(plan.operands);
  plan.compute = compute_dtype(common, options.precision);
  plan.result = options.dtype.value_or(common);
  if (is_complex(plan.result) && !is_complex(plan.compute)) {
    plan.compute = plan.compute == DType::kF64 ? DType::kC128 : DType::kC64;
  }
  check_dtypes(plan);

  // 3. The plain loops need no plan, and neither does nothing at all.
  const Shape out = plan.output_shape();
  double all_labels = 1;
  for (const auto e : plan.problem.extents) all_labels *= static_cast<double>(e);
  if (options.backend == Backend::kReference || plan.problem.has_zero_extent()) {
    // One step over all labels at once.
    double summed = 1;
    for (Label l = 0; l < static_cast<Label>(plan.problem.extents.size()); ++l) {
      if (std::ranges::count(plan.problem.output, l) == 0) {
        summed *= static_cast<double>(plan.problem.extents[static_cast<std::size_t>(l)]);
      }
    }
    const PairSize all{.m = summed == 0 ? 0 : all_labels / summed, .k = summed};
    plan.mac = all.mac();
    plan.flop = all.flop();
    plan.path.method = "loops";
    plan.path.optimal = plan.problem.has_zero_extent();
    plan.peak_bytes = bytes_of(plan.result, out);
    for (const auto& operand : plan.operands)
      plan.peak_bytes += bytes_of(operand.dtype, operand.shape);
    if (options.backend == Backend::kReference) {
      std::vector<Shape> copied = shapes;
      copied.push_back(out);
      plan.peak_bytes += reference_bytes(copied, is_complex(plan.result));
    }
    if (options.memory && plan.peak_bytes > static_cast<double>(*options.memory)) {
      fail(
          "einsum: operands, result and copies of them in f64 take {}, more than the memory bound "
          "of {}",
          format_bytes(plan.peak_bytes), format_bytes(static_cast<double>(*options.memory)));
    }
    return plan;
  }

  // 4. An order of pairwise steps, a kernel for each, and slices where memory is short.
  Planner(plan, model).run(row_major_strides(out), path);
  return plan;
}

}  // namespace assay::einsum
