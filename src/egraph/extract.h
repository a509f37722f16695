// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cheapest term of a class, where a term costs what its node costs over the costs of its
// children, each counted as often as it stands there.

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "egraph/egraph.h"
#include "egraph/term.h"

namespace assay::egraph {

// Cost of a node over its children's costs: at least each of them, and finite where they are.
using Cost = std::function<double(const NodeView&, std::span<const double> children)>;

class Extractor {
 public:
  // The graph is clean and stays as it is.
  Extractor(const EGraph& graph, const Cost& cost);
  // Infinite where the class has no finite term.
  double cost(ClassId id) const { return costs_[graph_.find(id)]; }
  // Of nodes that cost the same the one whose cost was known first: the same graph, the same
  // choice.
  ClassId best_node(ClassId id) const { return best_[graph_.find(id)]; }
  TermPtr term(ClassId id) const;

 private:
  const EGraph& graph_;
  std::vector<double> costs_;
  std::vector<ClassId> best_;
  mutable std::unordered_map<ClassId, TermPtr> terms_;
};

}  // namespace assay::egraph
