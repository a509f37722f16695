// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/einsum/oracle/path_cost.h"

#include <fmt/format.h>

#include <optional>

namespace assay::cases::einsum {

PathCost path_cost(const LabelNetwork& network, const std::vector<std::int64_t>& pairs) {
  PathCost cost;
  std::vector<std::optional<std::set<int>>> nodes(network.terms.begin(), network.terms.end());
  if (pairs.size() != 2 * (nodes.size() - 1)) {
    cost.wrong = fmt::format("{} numbers for {} terms", pairs.size(), nodes.size());
    return cost;
  }
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    std::set<int> both;
    for (const auto node : {pairs[i], pairs[i + 1]}) {
      const auto at = static_cast<std::size_t>(node);
      if (node < 0 || at >= nodes.size() || !nodes[at]) {
        cost.wrong = fmt::format("step {} takes node {}, which is not there", i / 2, node);
        return cost;
      }
      both.insert(nodes[at]->begin(), nodes[at]->end());
      nodes[at].reset();
    }
    double products = 1, summed = 1;
    std::set<int> kept;
    for (const int label : both) {
      const double extent = network.extents[static_cast<std::size_t>(label)];
      products *= extent;
      bool needed = network.output.contains(label);
      for (const auto& node : nodes) needed = needed || (node && node->contains(label));
      if (needed) {
        kept.insert(label);
      } else {
        summed *= extent;
      }
    }
    cost.flop += summed > 1 ? 2 * products : products;
    nodes.emplace_back(std::move(kept));
  }
  return cost;
}

}  // namespace assay::cases::einsum
