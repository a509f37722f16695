// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "egraph/egraph.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"

namespace assay::egraph {
namespace {

// Children, each as its class's representative. Most nodes have few.
class Canonical {
 public:
  Canonical(const EGraph& graph, std::span<const ClassId> children) {
    ClassId* to = few_.data();
    if (children.size() > few_.size()) {
      many_.resize(children.size());
      to = many_.data();
    }
    for (std::size_t i = 0; i < children.size(); ++i) to[i] = graph.find(children[i]);
    span_ = {to, children.size()};
  }
  std::span<const ClassId> span() const { return span_; }

 private:
  std::array<ClassId, 8> few_;
  std::vector<ClassId> many_;
  std::span<const ClassId> span_;
};

}  // namespace

EGraph::EGraph(Analysis* analysis, bool explains)
    : analysis_(analysis), proof_(explains ? std::make_unique<Proof>() : nullptr) {}
EGraph::~EGraph() = default;

ClassId EGraph::find(ClassId id) const {
  while (leader_[id] != id) {
    leader_[id] = leader_[leader_[id]];
    id = leader_[id];
  }
  return id;
}

const Proof& EGraph::proof() const {
  check(proof_ != nullptr, "an e-graph that explains was asked for");
  return *proof_;
}

ClassId EGraph::add_new(const NodeView& node) {
  const ClassId id = store_.append(node);
  leader_.push_back(id);
  parents_.emplace_back();
  dead_.push_back(0);
  changed_at_.push_back(now_);
  for (auto slot = store_.first_slot(id); slot < store_.end_slot(id); ++slot) {
    next_.push_back(kNoClass);
    owner_.push_back(id);
    auto& list = parents_[store_.child_at(slot)];
    (list.count == 0 ? list.first : next_[list.last]) = slot;
    list.last = slot;
    ++list.count;
  }
  ++classes_;
  return id;
}

ClassId EGraph::add(Operator op, std::span<const ClassId> children, std::uint64_t payload) {
  const Canonical canonical(*this, children);
  const NodeView node{op, payload, canonical.span()};
  if (const auto found = store_.find(node); found != kNoClass) return find(found);
  const ClassId id = add_new(node);
  store_.insert(id);
  ++live_;
  if (proof_) proof_->add({op, payload, children}, id);
  if (analysis_ != nullptr) {
    analysis_->made(*this, id);
    to_change_.push_back(id);
  }
  return id;
}

ClassId EGraph::add_exact(Operator op, std::span<const ClassId> children, std::uint64_t payload) {
  if (!proof_) return add(op, children, payload);
  const NodeView term{op, payload, children};
  if (const auto known = proof_->find(term); known != kNoClass) return known;
  const Canonical canonical(*this, children);
  const NodeView node{op, payload, canonical.span()};
  const auto found = store_.find(node);
  if (found == kNoClass) return add(op, children, payload);
  // Another way to write a node that is there: a number of its own, equal to that by congruence.
  const ClassId id = add_new(node);
  dead_[id] = 1;
  proof_->add(term, id);
  if (analysis_ != nullptr) analysis_->made(*this, id);
  join(id, found, Reason::congruence());
  return id;
}

std::optional<ClassId> EGraph::lookup(Operator op, std::span<const ClassId> children,
                                      std::uint64_t payload) const {
  const Canonical canonical(*this, children);
  const auto found = store_.find({op, payload, canonical.span()});
  if (found == kNoClass) return std::nullopt;
  return find(found);
}

bool EGraph::join(ClassId a, ClassId b, const Reason& why) {
  ClassId kept = find(a), gone = find(b);
  if (kept == gone) return false;
  if (proof_) proof_->join(a, b, why);
  // Fewer nodes change where the class with fewer parents goes.
  const auto rank = [&](ClassId id) { return std::pair(parents_[id].count, ~id); };
  if (rank(kept) < rank(gone)) std::swap(kept, gone);
  leader_[gone] = kept;
  --classes_;
  auto &list = parents_[kept], &brought = parents_[gone];
  if (brought.count > 0) {
    pending_.push_back(brought);
    if (list.count == 0) {
      list = brought;
    } else {
      next_[list.last] = brought.first;
      list.last = brought.last;
      list.count += brought.count;
    }
    brought = {};
  }
  if (analysis_ != nullptr) {
    if (analysis_->joined(*this, kept, gone)) to_refine_.push_back(kept);
    to_change_.push_back(kept);
  }
  return true;
}

template <typename Do>
void EGraph::for_each_parent(const Parents& parents, Do&& act) {
  if (parents.count == 0) return;
  for (auto slot = parents.first;; slot = next_[slot]) {
    act(owner_[slot]);
    if (slot == parents.last) return;
  }
}

// Nodes whose children are no leaders any more; two that are the same now are one.
void EGraph::repair(const Parents& parents) {
  for_each_parent(parents, [&](ClassId node) {
    if (dead_[node] != 0) return;
    bool is_stale = false;
    for (const ClassId child : store_.children(node)) is_stale = is_stale || find(child) != child;
    if (!is_stale)
      return;  // two of its children were of one class, and it was repaired for the first
    store_.erase(node);
    for (auto slot = store_.first_slot(node); slot < store_.end_slot(node); ++slot) {
      store_.set_child(slot, find(store_.child_at(slot)));
    }
    changed_at_[node] = now_;
    const ClassId equal = store_.insert(node);
    if (equal == node) return;
    dead_[node] = 1;
    --live_;
    join(node, equal, Reason::congruence());
  });
}

void EGraph::rebuild() {
  ++now_;
  while (!is_clean()) {
    while (!pending_.empty()) {
      const auto todo = std::exchange(pending_, {});
      for (const auto& parents : todo) repair(parents);
    }
    while (!to_refine_.empty()) {
      const auto todo = std::exchange(to_refine_, {});
      for (const ClassId id : todo) {
        const auto of = parents_[find(id)];
        for_each_parent(of, [&](ClassId node) {
          if (dead_[node] != 0) return;
          changed_at_[node] = now_;  // guards may say otherwise of it now
          const ClassId parent = find(node);
          if (!analysis_->refined(*this, node, parent)) return;
          to_refine_.push_back(parent);
          to_change_.push_back(parent);
        });
      }
    }
    const auto todo = std::exchange(to_change_, {});
    for (const ClassId id : todo) analysis_->changed(*this, find(id));
  }
}

}  // namespace assay::egraph
