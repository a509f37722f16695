// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The nodes of an e-graph as matching wants them: by operator, by class and operator, by child and
// operator. A snapshot: made anew after each rebuild, and then it remembers which nodes changed.

#include <cstdint>
#include <span>
#include <vector>

#include "egraph/egraph.h"

namespace assay::egraph {

class Index {
 public:
  // The graph is clean.
  void update(const EGraph& graph);
  // How often it was updated; 0: never.
  std::uint32_t now() const { return now_; }

  struct Parent {
    ClassId node = 0;
    std::uint32_t position = 0;  // which child of it
  };
  // All in the order of their numbers.
  std::span<const ClassId> nodes(Operator op) const;
  std::span<const ClassId> nodes(ClassId of, Operator op) const;  // `of` a representative
  std::span<const Parent> parents(ClassId of, Operator op) const;

  ClassId class_of(ClassId node) const { return class_of_[node]; }
  // The update at which a node was seen first, with these children, in this class.
  std::uint32_t since(ClassId node) const { return since_[node]; }

 private:
  std::uint32_t now_ = 0;
  std::uint32_t graph_time_ = 0;  // EGraph::now() of the last update
  std::vector<ClassId> class_of_;
  std::vector<std::uint32_t> since_;
  std::vector<std::uint32_t> op_start_;  // into by_op_
  std::vector<ClassId> by_op_;
  // Sorted by class, then by operator. The operators stand apart for the search among them.
  std::vector<std::uint32_t> class_start_, parent_start_;
  std::vector<ClassId> by_class_;
  std::vector<Operator> class_ops_, parent_ops_;
  std::vector<Parent> by_child_;
};

}  // namespace assay::egraph
