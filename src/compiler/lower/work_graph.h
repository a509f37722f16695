// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A graph on its way to a program: primitives, and between them what kernels of their own compute.

#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/program/program.h"

namespace assay::compiler {

struct WorkNode {
  // Of a kernel: dtype, shape and operands count; the views of operands are the kernel's accesses.
  Node node;
  // Accesses name node.operands; `out` reads as a view of node.shape's elements.
  std::variant<std::monostate, Matmul, GroupedMatmul, Attention> kernel;
  // A scatter that may overwrite what it reads: nobody else reads that afterwards.
  bool in_place = false;
  std::vector<std::string> rules;
  bool is_kernel() const { return kernel.index() != 0; }
};

struct WorkGraph {
  Symbols symbols;
  std::vector<WorkNode> nodes;  // after their operands
  std::vector<Output> outputs;
};

// Node for node, without looking for anything.
WorkGraph work_graph_of(const Graph& graph);

}  // namespace assay::compiler
