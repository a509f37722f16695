// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "egraph/extract.h"

#include <cmath>
#include <limits>

#include "base/error.h"

namespace assay::egraph {

Extractor::Extractor(const EGraph& graph, const Cost& cost)
    : graph_(graph),
      costs_(graph.id_count(), std::numeric_limits<double>::infinity()),
      best_(graph.id_count(), kNoClass) {
  check(graph.is_clean(), "terms are taken out of a graph that was rebuilt");
  std::vector<double> of_children;
  for (bool is_better = true; is_better;) {
    is_better = false;
    for (ClassId node = 0; node < graph.id_count(); ++node) {
      if (!graph.is_live(node)) continue;
      const auto view = graph.node(node);
      of_children.clear();
      for (const ClassId child : view.children) of_children.push_back(costs_[child]);
      const double now = cost(view, of_children);
      const ClassId of = graph.find(node);
      if (!(now < costs_[of])) continue;
      costs_[of] = now;
      best_[of] = node;
      is_better = true;
    }
  }
}

TermPtr Extractor::term(ClassId id) const {
  const ClassId of = graph_.find(id);
  if (best_[of] == kNoClass) fail("no finite term of class {}", of);
  return term_at(
      of, [&](ClassId at) { return graph_.node(best_[at]); }, terms_);
}

}  // namespace assay::egraph
