// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "egraph/proof.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace assay::egraph {

void Proof::add(const NodeView& term, ClassId id) {
  check(terms_.size() == id, "terms are numbered as they come");
  terms_.append(term);
  terms_.insert(id);
  edges_.emplace_back();
}

void Proof::join(ClassId a, ClassId b, const Reason& why) {
  // a becomes the root of its tree: the edges on its way to the old one turn round.
  Edge above{b, why, true};
  for (ClassId at = a; at != kNoClass;) {
    const Edge was = std::exchange(edges_[at], above);
    above = {at, was.why, !was.forward};
    at = was.to;
  }
}

std::vector<Proof::Link> Proof::path(ClassId a, ClassId b) const {
  const auto way_up = [&](ClassId from) {
    std::vector<ClassId> way;
    for (ClassId at = from; at != kNoClass; at = edges_[at].to) way.push_back(at);
    return way;
  };
  auto from_a = way_up(a), from_b = way_up(b);
  check(from_a.back() == from_b.back(), "what is explained is equal");
  // What both ways share, above where they meet, is no part of the path.
  while (from_a.size() > 1 && from_b.size() > 1 &&
         from_a[from_a.size() - 2] == from_b[from_b.size() - 2]) {
    from_a.pop_back();
    from_b.pop_back();
  }
  std::vector<Link> links;
  for (std::size_t i = 0; i + 1 < from_a.size(); ++i) {
    const auto& edge = edges_[from_a[i]];
    links.push_back({from_a[i], edge.to, edge.why, edge.forward});
  }
  for (std::size_t i = from_b.size() - 1; i-- > 0;) {
    const auto& edge = edges_[from_b[i]];
    links.push_back({edge.to, from_b[i], edge.why, !edge.forward});
  }
  return links;
}

}  // namespace assay::egraph
