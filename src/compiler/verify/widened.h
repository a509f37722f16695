// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A graph's mathematics without its roundings: all floating point in f64. Two ways of writing the
// same differ there by next to nothing, whatever the dtypes are and however long the way is, so
// that a mistake stands out. (Rounded to bf16, a layer of a model is off by a tenth.)

#include <set>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"

namespace assay::compiler {

// Inputs stay what they are, cast where they are read, but for those that are f64 already.
// Constants keep their values. Outputs are f64; they replace nothing.
Graph widened(const Graph& graph, const std::set<std::string>& wide_inputs = {});

// The same, and of each of its nodes those that it stands for: without roundings several may be
// one.
struct WidenedGraph {
  Graph graph;
  std::vector<std::vector<NodeId>> originals;
};
WidenedGraph widened_with_originals(const Graph& graph,
                                    const std::set<std::string>& wide_inputs = {});

}  // namespace assay::compiler
