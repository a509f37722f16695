// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/plan/hoist.h"

#include <algorithm>
#include <numeric>

#include "einsum/plan/steps.h"

namespace assay::einsum {
namespace {

constexpr std::size_t kOrderedSlices = 4;  // 24 orders

class Nest {
 public:
  Nest(const std::vector<Step>& steps, const std::vector<Slice>& slices, const HoistInput& input)
      : steps_(steps), slices_(slices), in_(input), reader_(steps.size(), -1) {
    std::vector<LabelSet> seen = input.operands;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      LabelSet labels;
      for (const int node : steps[s].operands) {
        labels = labels | seen[static_cast<std::size_t>(node)];
        if (const int made = step_of(node); made >= 0) {
          reader_[static_cast<std::size_t>(made)] = static_cast<int>(s);
        }
      }
      seen.push_back(labels);
      std::size_t depth = slices.size();
      while (depth > 0 && !labels.contains(slices[depth - 1].label)) --depth;
      least_.push_back(depth);
    }
    depth_.assign(steps.size(), slices.size());
  }

  void run() {
    double time = total(&Nest::seconds_of);
    while (true) {
      std::optional<std::vector<std::size_t>> best;
      for (std::size_t s = 0; s < steps_.size(); ++s) {
        if (least_[s] == depth_[s]) continue;
        const auto before = depth_;
        move_out(s);
        const double moved = total(&Nest::seconds_of);
        if (moved < time && (!in_.available || peak() <= *in_.available)) {
          time = moved;
          best = depth_;
        }
        depth_ = before;
      }
      if (!best) return;
      depth_ = std::move(*best);
    }
  }

  Hoisted report() const {
    return {total(&Nest::mac_of), total(&Nest::flop_of), total(&Nest::seconds_of), peak()};
  }
  const std::vector<std::size_t>& depths() const { return depth_; }

 private:
  int step_of(int node) const { return node - static_cast<int>(in_.operands.size()); }
  static double seconds_of(const Step& step) { return step.lowered.predicted_s; }
  static double mac_of(const Step& step) { return step.lowered.size.mac(); }
  static double flop_of(const Step& step) { return step.lowered.size.flop(); }

  double total(double (*value)(const Step&)) const {
    double sum = 0;
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      double runs = 1;
      for (std::size_t k = 0; k < depth_[s]; ++k) runs *= static_cast<double>(slices_[k].parts);
      sum += runs * value(steps_[s]);
    }
    return sum;
  }

  // Step s as far out as it goes, and with it what it is made of.
  void move_out(std::size_t s) {
    depth_[s] = least_[s];
    for (std::size_t below = s; below-- > 0;) {  // readers come after what they read
      const int reader = reader_[below];
      if (reader >= 0) {
        depth_[below] = std::min(depth_[below], depth_[static_cast<std::size_t>(reader)]);
      }
    }
  }

  bool held(std::size_t s) const {
    return reader_[s] >= 0 && depth_[s] < depth_[static_cast<std::size_t>(reader_[s])];
  }
  double bytes(std::size_t s) const {
    return reader_[s] < 0 ? 0 : in_.element_bytes * element_count(steps_[s].c);
  }

  // When the part of slice `from − 1` changes, steps of depth `from` and more run again; what was
  // kept of the others is there from the start. With `from` 0 all run: the first time.
  double peak() const {
    double peak = 0;
    for (std::size_t from = 0; from <= slices_.size(); ++from) {
      double live = 0;
      for (std::size_t s = 0; s < steps_.size(); ++s) {
        if (depth_[s] < from && held(s)) live += bytes(s);
      }
      for (std::size_t s = 0; s < steps_.size(); ++s) {
        if (depth_[s] < from) continue;
        live += bytes(s);
        peak = std::max(peak, live + in_.element_bytes * steps_[s].lowered.workspace);
        for (const int node : steps_[s].operands) {
          const int made = step_of(node);
          if (made >= 0 && !held(static_cast<std::size_t>(made))) {
            live -= bytes(static_cast<std::size_t>(made));
          }
        }
      }
    }
    return peak + in_.element_bytes * most_packing(steps_);
  }

  const std::vector<Step>& steps_;
  const std::vector<Slice>& slices_;
  const HoistInput& in_;
  std::vector<int> reader_;  // the step that reads each step's result; −1: nobody, it is the last
  std::vector<std::size_t> least_, depth_;
};

}  // namespace

Hoisted hoist(std::vector<Step>& steps, std::vector<Slice>& slices, const HoistInput& input) {
  std::vector<std::size_t> order(slices.size());
  std::iota(order.begin(), order.end(), 0u);
  std::optional<Hoisted> best;
  std::vector<Slice> best_slices;
  do {
    std::vector<Slice> tried;
    for (const std::size_t k : order) tried.push_back(slices[k]);
    Nest nest(steps, tried, input);
    nest.run();
    const Hoisted found = nest.report();
    if (best && !(found.predicted_s < best->predicted_s)) continue;
    best = found;
    best_slices = tried;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      steps[s].depth = static_cast<int>(nest.depths()[s]);
    }
  } while (slices.size() <= kOrderedSlices && std::ranges::next_permutation(order).found);
  slices = std::move(best_slices);
  return *best;
}

}  // namespace assay::einsum
