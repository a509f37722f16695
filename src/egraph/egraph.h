// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// An e-graph: terms that are known to be equal share a class, and what follows from it (congruence)
// is found by rebuild(). It knows no tensor; what operators mean is the user's.
//
// Everything is deterministic: the same calls give the same numbers.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "egraph/node_store.h"
#include "egraph/proof.h"

namespace assay::egraph {

class EGraph;

// What is known of a class beside its nodes (a shape, a constant), kept by the user under the
// class's number. Facts only grow: what is known of equal terms is true of both.
class Analysis {
 public:
  virtual ~Analysis() = default;
  // A class of one node has come into being.
  virtual void made(const EGraph& graph, ClassId id) = 0;
  // `gone` is part of `kept` now: kept's facts become those of both. Returns whether kept knows
  // more than before. Throws Conflict (rules.h says which rule it was) where both cannot be true.
  virtual bool joined(const EGraph& graph, ClassId kept, ClassId gone) = 0;
  // A child of `node` knows more. Returns whether its class, `of`, therefore knows more.
  virtual bool refined(const EGraph& /*graph*/, ClassId /*node*/, ClassId /*of*/) { return false; }
  // Called where a class is new or knows more: may add nodes and join (a folded constant).
  virtual void changed(EGraph& /*graph*/, ClassId /*id*/) {}
};

class EGraph {
 public:
  // With `explains` every join is remembered with its reason, for explain().
  explicit EGraph(Analysis* analysis = nullptr, bool explains = false);
  EGraph(const EGraph&) = delete;
  EGraph& operator=(const EGraph&) = delete;
  ~EGraph();

  // The class of this term; children may be any members of their classes.
  ClassId add(Operator op, std::span<const ClassId> children = {}, std::uint64_t payload = 0);
  // The same where every number given counts as the very term it is: what it returns is that term,
  // not merely its class. Only with explanations; without them it is add().
  ClassId add_exact(Operator op, std::span<const ClassId> children, std::uint64_t payload = 0);
  // The class that holds the node, if any.
  std::optional<ClassId> lookup(Operator op, std::span<const ClassId> children,
                                std::uint64_t payload = 0) const;

  // The member that stands for a class.
  ClassId find(ClassId id) const;
  bool same(ClassId a, ClassId b) const { return find(a) == find(b); }

  // From now on the two are equal. False: they were. Congruence waits for rebuild().
  bool join(ClassId a, ClassId b, const Reason& why);
  // Draws the conclusions of all joins. Patterns are matched after it only.
  void rebuild();
  bool is_clean() const { return pending_.empty() && to_refine_.empty() && to_change_.empty(); }

  // Nodes that are not equal to another one, and classes.
  std::size_t node_count() const { return live_; }
  std::size_t class_count() const { return classes_; }
  // All numbers there are; those for which is_live() is false are nodes that became equal to
  // another.
  ClassId id_count() const { return store_.size(); }
  bool is_live(ClassId node) const { return dead_[node] == 0; }
  // Children are classes' representatives after rebuild().
  NodeView node(ClassId node) const { return store_.view(node); }
  // When a node last changed: was made, got another child, or more became known of one. Counts
  // rebuilds.
  std::uint32_t changed_at(ClassId node) const { return changed_at_[node]; }
  std::uint32_t now() const { return now_; }

  bool explains() const { return proof_ != nullptr; }
  const Proof& proof() const;

 private:
  // A class's parents are the slots (node_store.h) that hold one of its members, a list by next_.
  // What another class brings is appended in one piece and stays in one piece.
  struct Parents {
    std::uint32_t first = kNoClass, last = kNoClass, count = 0;
  };
  ClassId add_new(const NodeView& node);
  void repair(const Parents& parents);
  template <typename Do>
  void for_each_parent(const Parents& parents, Do&& act);

  NodeStore store_;
  std::vector<std::uint32_t> next_, owner_;  // of slots
  std::vector<Parents> parents_;             // of classes
  mutable std::vector<ClassId> leader_;      // union-find
  std::vector<std::uint8_t> dead_;
  std::vector<std::uint32_t> changed_at_;
  std::uint32_t now_ = 1;
  std::size_t live_ = 0, classes_ = 0;

  std::vector<Parents> pending_;                // whose nodes have a child that is no leader
  std::vector<ClassId> to_refine_, to_change_;  // classes that know more
  Analysis* analysis_;
  std::unique_ptr<Proof> proof_;
};

}  // namespace assay::egraph
