// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/plan/cut.h"

#include <algorithm>
#include <compare>
#include <optional>
#include <utility>

namespace assay::einsum {
namespace {

// Up to so many labels, cuts of any one of them are tried, and of any two; beyond, only of labels
// whose kernels lack room.
constexpr std::size_t kFewLabels = 16, kPairedLabels = 4;

// The largest divisor below a part, so that all parts are alike.
std::int64_t next_smaller_part(std::int64_t part) {
  std::int64_t divisor = 2;
  while (part % divisor != 0) ++divisor;
  return part / divisor;
}

struct Load {
  double peak = 0;  // elements of intermediates that are alive at the same time
  double work = 0;  // of all slices, if each step runs only for the parts that its operands see
  auto operator<=>(const Load&) const = default;
};

Load load_of(const Draft& draft, const StepsInput& input, const Parts& parts) {
  Network whole = draft.network(input, reduced_sets(input));
  for (std::size_t l = 0; l < parts.size(); ++l) whole.extents[l] = static_cast<double>(parts[l]);
  const auto& tree = draft.plan.path.tree;
  const auto nodes = node_labels(whole, tree);
  auto seen = draft.operand_labels();
  Load load;
  for (const auto& [a, b] : tree.merges) {
    const auto first = static_cast<std::size_t>(a), second = static_cast<std::size_t>(b);
    double work = product_of_extents(whole, nodes[first] | nodes[second]);
    seen.push_back(seen[first] | seen[second]);
    seen.back().for_each([&](Label l) {
      const auto at = static_cast<std::size_t>(l);
      work *= static_cast<double>(draft.plan.problem.extents[at] / parts[at]);
    });
    load.work += work;
  }
  const auto size = [&](int node) {
    return static_cast<std::size_t>(node) < whole.terms.size()
               ? 0.0
               : product_of_extents(whole, nodes[static_cast<std::size_t>(node)]);
  };
  double live = 0;
  for (std::size_t i = 0; i + 1 < tree.merges.size(); ++i) {
    live += product_of_extents(whole, nodes[whole.terms.size() + i]);
    load.peak = std::max(load.peak, live);
    live -= size(tree.merges[i].first) + size(tree.merges[i].second);
  }
  return load;
}

}  // namespace

bool cut_one_more(Draft& draft, const StepsInput& input) {
  std::optional<std::pair<Load, Parts>> best;
  for (std::size_t l = 0; l < draft.parts.size(); ++l) {
    if (draft.parts[l] <= 1) continue;
    auto tried = draft.parts;
    tried[l] = next_smaller_part(tried[l]);
    const Load load = load_of(draft, input, tried);
    if (!best || load < best->first) best = {load, std::move(tried)};
  }
  if (best) draft.parts = std::move(best->second);
  return best.has_value();
}

Trial try_parts(Draft& draft, const Parts& parts, const Tree& order, const char* method) {
  const StepsInput input = draft.input(parts);
  Steps steps = make_steps(input, order, draft.model);
  if (steps.peak_bytes > *input.available) return {};
  Plan& plan = draft.plan;
  Plan before = plan;
  draft.take(std::move(steps), input);
  const Trial trial = {plan.predicted_s < before.predicted_s, !draft.is_squeezed()};
  if (!trial.faster) {
    plan = std::move(before);
    return trial;
  }
  draft.parts = parts;
  PathReport& path = plan.path;
  path.cost = draft.cost(input, order);
  path.optimal = order.merges.size() <= 1;
  if (!path.optimal) path.method = method;
  path.lower_bound = path.optimal ? path.cost : std::min(path.cost, path.lower_bound);
  path.tree = order;
  return trial;
}

void cut_further(Draft& draft) {
  const Tree order = draft.plan.path.tree;
  const std::size_t labels = draft.parts.size();
  const bool try_pairs = labels <= kPairedLabels;
  // Cuts one label of `parts` further and further; whether that gained something.
  const auto cut = [&](Parts parts, std::size_t l) {
    Trial all;
    while (parts[l] > 1 && (!all.roomy || try_pairs)) {
      parts[l] = next_smaller_part(parts[l]);
      const Trial trial = try_parts(draft, parts, order, "order of larger parts");
      all.faster |= trial.faster;
      all.roomy = trial.roomy;
    }
    return all.faster;
  };
  if (try_pairs) {
    for (std::size_t l = 0; l < labels; ++l) {
      for (auto parts = draft.plan.problem.extents; parts[l] > 1;) {
        parts[l] = next_smaller_part(parts[l]);
        for (std::size_t other = l + 1; other < labels; ++other) cut(parts, other);
      }
    }
  }
  for (bool faster = true; faster;) {
    faster = false;
    LabelSet worth;
    for (const auto& step : draft.plan.steps) {
      if (step.squeezed || labels <= kFewLabels) {
        worth = worth | labels_of(step.a) | labels_of(step.b);
      }
    }
    const auto before = draft.parts;
    worth.for_each([&](Label l) { faster |= cut(before, static_cast<std::size_t>(l)); });
  }
}

}  // namespace assay::einsum
