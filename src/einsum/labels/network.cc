// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/labels/network.h"

#include <map>

#include "base/error.h"
#include "base/names.h"
#include "einsum/labels/pair_cost.h"

namespace assay::einsum {

constexpr auto kObjectiveNames = make_names<Objective>({{Objective::kTime, "time"},
                                                        {Objective::kMac, "mac"},
                                                        {Objective::kFlop, "flop"},
                                                        {Objective::kWrite, "write"}});

std::string_view name_of(Objective objective) { return kObjectiveNames[objective]; }

Objective objective_from_name(std::string_view name) {
  for (const auto o : {Objective::kTime, Objective::kMac, Objective::kFlop, Objective::kWrite}) {
    if (name_of(o) == name) return o;
  }
  fail("the objective is time, mac, flop or write, not '{}'", name);
}

double product_of_extents(const Network& network, const LabelSet& labels) {
  double product = 1;
  labels.for_each([&](Label l) { product *= network.extents[static_cast<std::size_t>(l)]; });
  return product;
}

PairSize pair_size(const Network& network, const LabelSet& a, const LabelSet& b,
                   const LabelSet& result) {
  return {.m = product_of_extents(network, (a - b) & result),
          .n = product_of_extents(network, (b - a) & result),
          .k = product_of_extents(network, (a | b) - result),
          .batch = product_of_extents(network, a & b & result)};
}

std::vector<LabelSet> node_labels(const Network& network, const Tree& tree) {
  // How many live nodes (and the output) still need a label.
  std::vector<int> users(network.extents.size(), 0);
  const auto count = [&](const LabelSet& set, int change) {
    set.for_each([&](Label l) { users[static_cast<std::size_t>(l)] += change; });
  };
  std::vector<LabelSet> nodes = network.terms;
  for (const auto& term : nodes) count(term, 1);
  count(network.output, 1);
  for (const auto& [a, b] : tree.merges) {
    const auto& set_a = nodes[static_cast<std::size_t>(a)];
    const auto& set_b = nodes[static_cast<std::size_t>(b)];
    count(set_a, -1);
    count(set_b, -1);
    LabelSet result;
    (set_a | set_b).for_each([&](Label l) {
      if (users[static_cast<std::size_t>(l)] > 0) result.insert(l);
    });
    count(result, 1);
    nodes.push_back(result);
  }
  return nodes;
}

double cost_of(const Network& network, const Tree& tree, Objective objective,
               const PairTime* time) {
  const auto nodes = node_labels(network, tree);
  const PairCost<LabelSet> step(network.extents, objective, time);
  double total = 0;
  for (std::size_t i = 0; i < tree.merges.size(); ++i) {
    const auto [a, b] = tree.merges[i];
    total += step(nodes[static_cast<std::size_t>(a)], nodes[static_cast<std::size_t>(b)],
                  nodes[network.terms.size() + i]);
  }
  return total;
}

Network fuse_labels(const Network& network) {
  // The terms of a label, as text: a class of labels for each that occurs.
  std::map<std::vector<bool>, int> classes;
  Network fused;
  fused.terms.resize(network.terms.size());
  for (std::size_t l = 0; l < network.extents.size(); ++l) {
    const Label label = static_cast<Label>(l);
    std::vector<bool> where;
    bool used = network.output.contains(label);
    where.push_back(used);
    for (const auto& term : network.terms) {
      where.push_back(term.contains(label));
      used |= where.back();
    }
    if (!used) continue;
    const auto [at, is_new] = classes.try_emplace(where, static_cast<int>(fused.extents.size()));
    if (is_new) {
      fused.extents.push_back(1);
      if (where[0]) fused.output.insert(at->second);
      for (std::size_t t = 0; t < network.terms.size(); ++t) {
        if (where[t + 1]) fused.terms[t].insert(at->second);
      }
    }
    fused.extents[static_cast<std::size_t>(at->second)] *= network.extents[l];
  }
  return fused;
}

}  // namespace assay::einsum
