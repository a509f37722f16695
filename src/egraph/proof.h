// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Why two terms are equal: every join with its reason, as a forest over terms. Two terms of one
// tree are equal by the joins on the path between them, and no later join changes that path.

#include <cstdint>
#include <vector>

#include "egraph/node_store.h"

namespace assay::egraph {

struct Reason {
  enum class Kind : std::uint8_t { kGiven, kRule, kCongruence };
  Kind kind = Kind::kGiven;
  std::uint32_t rule = 0;  // the user's number of it

  static Reason given() { return {}; }
  static Reason by_rule(std::uint32_t rule) { return {Kind::kRule, rule}; }
  // Equal operators over equal children.
  static Reason congruence() { return {Kind::kCongruence, 0}; }
};

class Proof {
 public:
  // Terms are numbered as they come: `id` is the next number.
  void add(const NodeView& term, ClassId id);
  // This very term, or kNoClass.
  ClassId find(const NodeView& term) const { return terms_.find(term); }
  NodeView term(ClassId id) const { return terms_.view(id); }

  // The two are not known to be equal yet.
  void join(ClassId a, ClassId b, const Reason& why);

  struct Link {
    ClassId from = 0, to = 0;
    Reason why;
    bool forward = true;  // the join was made of (from, to), not of (to, from)
  };
  // From a to b, which are equal. Throws InternalError where they are not.
  std::vector<Link> path(ClassId a, ClassId b) const;

 private:
  struct Edge {
    ClassId to = kNoClass;  // towards the root of its tree
    Reason why;
    bool forward = true;
  };
  NodeStore terms_;
  std::vector<Edge> edges_;
};

}  // namespace assay::egraph
