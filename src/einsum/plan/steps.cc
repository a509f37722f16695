// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/plan/steps.h"

#include <algorithm>

#include "base/error.h"
#include "einsum/kernels/loop_nest.h"
#include "einsum/kernels/strided.h"
#include "einsum/lower/device_nest.h"

namespace assay::einsum {
namespace {

using Order = std::vector<Label>;

Network network_of(const StepsInput& input, const std::vector<LabelSet>& sets) {
  Network network;
  for (const auto extent : input.extents) network.extents.push_back(static_cast<double>(extent));
  network.terms = sets;
  network.output = labels_of(input.output);
  return network;
}

class StepMaker {
 public:
  StepMaker(const StepsInput& input, const Tree& tree, const TimeModel& model)
      : in_(input), tree_(tree), model_(model), terms_(input.operands.size()) {
    sets_ = node_labels(network_of(input, reduced_sets(input)), tree);
    layouts_.resize(sets_.size());
    parent_.assign(sets_.size(), -1);
    for (std::size_t i = 0; i < tree.merges.size(); ++i) {
      parent_[static_cast<std::size_t>(tree.merges[i].first)] = static_cast<int>(i);
      parent_[static_cast<std::size_t>(tree.merges[i].second)] = static_cast<int>(i);
    }
    for (std::size_t t = 0; t < terms_; ++t) {
      layouts_[t] = input.operands[t];
      node_of_.push_back(static_cast<int>(t));
    }
    element_ = static_cast<double>(size_of(input.dtype));
  }

  Steps run() {
    for (std::size_t t = 0; t < terms_; ++t) {
      const bool last = tree_.merges.empty();
      if (last || labels_of(layouts_[t]) != sets_[t]) reduce(t, last);
    }
    for (std::size_t i = 0; i < tree_.merges.size(); ++i) merge(i);
    result_.peak_bytes += element_ * packing_;
    return std::move(result_);
  }

 private:
  const Layout& layout(int node) const { return layouts_[static_cast<std::size_t>(node)]; }
  const LabelSet& set(int node) const { return sets_[static_cast<std::size_t>(node)]; }

  Layout dense(const Order& order) const { return dense_layout(order, in_.extents); }

  std::string term_text(const Layout& term) const {
    std::string text;
    for (const Label l : memory_order(term)) {
      text += in_.problem->names[static_cast<std::size_t>(l)];
    }
    return text;
  }

  int new_node() { return static_cast<int>(terms_ + result_.steps.size()); }

  // Sums the labels of one operand that nobody else needs, or copies it to the result.
  void reduce(std::size_t t, bool last) {
    Step step;
    step.operands = {static_cast<int>(t)};
    step.result = new_node();
    step.a = layouts_[t];
    Order kept;
    for (const Label l : memory_order(layouts_[t])) {
      if (sets_[t].contains(l)) kept.push_back(l);
    }
    step.c = last ? in_.output : dense(kept);
    step.expression = term_text(step.a) + "->" + term_text(step.c);
    auto& lowered = step.lowered;
    lowered.kernel = Kernel::kCopy;
    lowered.loops = loops_over(step.a, {}, step.c);
    const double from = element_count(step.a), to = element_count(step.c);
    const bool sums = from > to;
    lowered.size = {.m = to, .k = from / to};
    lowered.bytes = element_ * (from + to);
    const Part part = sums ? Part::kLoops : Part::kPermute;
    const std::size_t size = size_of(in_.dtype);
    if (!sums) {
      lowered.loops = fused_loops(std::move(lowered.loops));
      lowered.work = model_.on_device ? device_permute_work(lowered.loops, size)
                                      : permute_work(lowered.loops, size);
    } else if (model_.on_device) {
      auto nest = device_nest(std::move(lowered.loops), size);
      lowered.loops = std::move(nest.loops);
      lowered.lanes = nest.lanes;
      lowered.work = nest.work;
    } else {
      lowered.loops = nest_loops(std::move(lowered.loops), size);
      lowered.work = nest_work(lowered.loops, size);
    }
    lowered.predicted_s = model_.seconds(part, in_.dtype, lowered.work);
    lowered.band = model_.band(part, in_.dtype);
    layouts_[t] = step.c;
    node_of_[t] = step.result;
    live_ += last ? 0 : element_ * to;
    if (!last) owned_.push_back(step.result);
    result_.peak_bytes = std::max(result_.peak_bytes, live_);
    finish(std::move(step));
  }

  // The result's layouts worth trying: as the operands have their labels, either first, and as the
  // step that reads it would like them, for matrix products; on a device for plain loops as well.
  std::vector<Order> orders(std::size_t i) const {
    const auto [a, b] = tree_.merges[i];
    const std::size_t made = terms_ + i;
    const LabelSet batch = set(a) & set(b) & sets_[made];
    const auto part = [&](int node, const LabelSet& which) {
      Order order;
      for (const Label l : memory_order(layout(node))) {
        if (which.contains(l)) order.push_back(l);
      }
      return order;
    };
    const auto joined = [](std::initializer_list<Order> parts) {
      Order all;
      for (const auto& p : parts) all.insert(all.end(), p.begin(), p.end());
      return all;
    };
    const Order outer = part(a, batch), m = part(a, sets_[made] - set(b)),
                n = part(b, sets_[made] - set(a));
    std::vector<Order> tried = {joined({outer, m, n}), joined({outer, n, m})};
    const int reader = parent_[made];
    const auto [first, second] = tree_.merges[static_cast<std::size_t>(reader)];
    const int sibling = first == static_cast<int>(made) ? second : first;
    const LabelSet& next = sets_[terms_ + static_cast<std::size_t>(reader)];
    const auto grouped = [&](const Order& natural, const LabelSet& which) {
      Order order;
      for (const Label l : natural) {
        if (which.contains(l)) order.push_back(l);
      }
      return order;
    };
    const LabelSet shared = sets_[made] & set(sibling);
    for (const Order& natural : std::vector<Order>(tried)) {
      const Order b2 = grouped(natural, shared & next), k2 = grouped(natural, shared - next),
                  m2 = grouped(natural, sets_[made] - set(sibling));
      tried.push_back(joined({b2, m2, k2}));
      tried.push_back(joined({b2, k2, m2}));
    }
    if (model_.on_device) {
      // Threads of plain loops are neighbours along a label: one that two tensors have last,
      // whether it is a batch or not, is best kept so.
      for (const int like : {a, b, sibling}) {
        if (layout(like).empty()) continue;  // a scalar, or not made yet
        tried.push_back(joined({grouped(tried.front(), sets_[made] - set(like)),
                                grouped(memory_order(layout(like)), sets_[made])}));
      }
    }
    std::ranges::sort(tried);
    tried.erase(std::unique(tried.begin(), tried.end()), tried.end());
    return tried;
  }

  // What the step that reads node `made` will take if that has this layout.
  double reading_time(std::size_t made, const Layout& made_layout) const {
    const auto reader = static_cast<std::size_t>(parent_[made]);
    const auto [first, second] = tree_.merges[reader];
    const bool is_first = first == static_cast<int>(made);
    const int sibling = is_first ? second : first;
    const auto likely = [&](int node) {
      // A node that is not made yet: its labels in any dense order.
      if (!layout(node).empty() || set(node).empty()) return layout(node);
      Order order;
      set(node).for_each([&](Label l) { order.push_back(l); });
      return dense(order);
    };
    PairTask task;
    task.a = is_first ? made_layout : likely(sibling);
    task.b = is_first ? likely(sibling) : made_layout;
    task.dtype = in_.dtype;
    task.threads = in_.threads;
    if (reader + 1 == tree_.merges.size()) {
      task.c = in_.output;
    } else {
      Order order;
      const LabelSet& kept = sets_[terms_ + reader];
      for (const Layout* from : {&task.a, &task.b}) {
        for (const Label l : memory_order(*from)) {
          if (kept.contains(l) && std::ranges::count(order, l) == 0) order.push_back(l);
        }
      }
      task.c = dense(order);
    }
    return lower_pair(task, model_).front().predicted_s;
  }

  void merge(std::size_t i) {
    const auto [a, b] = tree_.merges[i];
    const std::size_t made = terms_ + i;
    const bool last = i + 1 == tree_.merges.size();
    PairTask task{layout(a), layout(b), in_.output, in_.dtype, in_.threads};
    std::vector<Lowered> ways;
    if (last) {
      ways = lower_pair(task, model_);
    } else {
      double least = 0;
      for (const auto& order : orders(i)) {
        PairTask tried = task;
        tried.c = dense(order);
        auto lowered = lower_pair(tried, model_);
        const double time = lowered.front().predicted_s + reading_time(made, tried.c);
        if (ways.empty() || time < least) {
          least = time;
          ways = std::move(lowered);
          task.c = tried.c;
        }
      }
    }
    Step step;
    step.operands = {node_of_[static_cast<std::size_t>(a)], node_of_[static_cast<std::size_t>(b)]};
    step.result = new_node();
    step.a = task.a;
    step.b = task.b;
    step.c = task.c;
    step.expression = term_text(step.a) + "," + term_text(step.b) + "->" + term_text(step.c);
    live_ += last ? 0 : element_ * element_count(step.c);
    choose(step, ways);
    packing_ = std::max(packing_, step.lowered.packing);
    result_.peak_bytes = std::max(result_.peak_bytes, live_ + element_ * step.lowered.workspace);
    release(step.operands[0], a);
    release(step.operands[1], b);
    layouts_[made] = step.c;
    node_of_.push_back(step.result);
    if (!last) owned_.push_back(step.result);
    finish(std::move(step));
  }

  // The fastest way whose copies fit, else the one with the smallest copies.
  void choose(Step& step, std::vector<Lowered>& ways) const {
    std::size_t chosen = 0;
    const auto memory = [this](const Lowered& way) {
      return way.workspace + std::max(packing_, way.packing);
    };
    if (in_.available) {
      const auto fits = [&](const Lowered& way) {
        return live_ + element_ * memory(way) <= *in_.available;
      };
      const auto at = std::ranges::find_if(ways, fits);
      chosen = static_cast<std::size_t>(
          (at != ways.end() ? at : std::ranges::min_element(ways, {}, memory)) - ways.begin());
    }
    for (std::size_t w = 0; w < ways.size(); ++w) {
      if (w == chosen || ways[w].kernel == ways[chosen].kernel) continue;
      step.runner_up = ways[w].kernel;
      step.runner_up_s = ways[w].predicted_s;
      break;
    }
    step.squeezed = ways.front().predicted_s < ways[chosen].predicted_s;
    step.lowered = std::move(ways[chosen]);
  }

  void release(int node, int tree_node) {
    const auto at = std::ranges::find(owned_, node);
    if (at == owned_.end()) return;
    owned_.erase(at);
    live_ -= element_ * element_count(layout(tree_node));
  }

  void finish(Step step) { result_.steps.push_back(std::move(step)); }

  const StepsInput& in_;
  const Tree& tree_;
  const TimeModel& model_;
  std::size_t terms_;
  std::vector<LabelSet> sets_;
  std::vector<Layout> layouts_;
  std::vector<int> parent_, node_of_, owned_;
  double element_ = 8, live_ = 0;
  double packing_ = 0;  // elements, the most of the steps so far
  Steps result_;
};

}  // namespace

std::vector<LabelSet> reduced_sets(const StepsInput& input) {
  std::vector<int> terms_with(input.extents.size(), 0);
  const LabelSet output = labels_of(input.output);
  std::vector<LabelSet> sets;
  for (const auto& layout : input.operands) {
    sets.push_back(labels_of(layout));
    sets.back().for_each([&](Label l) { ++terms_with[static_cast<std::size_t>(l)]; });
  }
  for (auto& set : sets) {
    LabelSet kept;
    set.for_each([&](Label l) {
      if (terms_with[static_cast<std::size_t>(l)] > 1 || output.contains(l)) kept.insert(l);
    });
    set = kept;
  }
  return sets;
}

double most_packing(std::span<const Step> steps) {
  double most = 0;
  for (const auto& step : steps) most = std::max(most, step.lowered.packing);
  return most;
}

Steps make_steps(const StepsInput& input, const Tree& tree, const TimeModel& model) {
  return StepMaker(input, tree, model).run();
}

}  // namespace assay::einsum
