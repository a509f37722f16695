// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Out of the e-graph again: for each class that is needed, one of its nodes.

#include <functional>
#include <map>
#include <vector>

#include "compiler/lower/work_graph.h"
#include "compiler/rules/tensor_egraph.h"

namespace assay::compiler {

// Ways to compute a class: the largest kernel first, the plain node last, but none for a large
// product. Nodes that differ in the order of two operands count once.
std::vector<egraph::ClassId> options_of(const TensorEGraph& terms, egraph::ClassId id);

// Equal for classes that are computed alike, whatever their inputs are called: layers of one model.
using Signature = std::uint64_t;
std::vector<Signature> node_signatures(const Graph& graph);

struct ChosenGraph {
  WorkGraph work;
  // For nodes of `work` that stand for a class with more than one way, or could have a buffer of
  // their own: by which a choice is remembered.
  std::vector<Signature> signatures;  // of each node of work; 0: none
  std::map<Signature, std::size_t> option_counts;
};
// `option`: which of a class's ways, below their count; 0 is the default.
ChosenGraph chosen_graph(
    const TensorEGraph& terms,
    const std::function<std::size_t(Signature, std::size_t count)>& option = {});

}  // namespace assay::compiler
