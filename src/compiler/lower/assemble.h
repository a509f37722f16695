// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Kernels over nodes become a program: buffers, an order, equal kernels once.

#include <optional>
#include <set>
#include <vector>

#include "compiler/lower/work_graph.h"

namespace assay::compiler {

struct MadeKernel {
  Kernel kernel;                 // its operands' formals are filled in by assembled()
  std::vector<NodeId> operands;  // whose buffers they are
  std::set<NodeId> reads, writes;
  std::optional<NodeId> in_place_of;  // the node whose buffer it overwrites
};

// Outputs that are inputs, or one node under two names, and states that are not replaced in place
// are copied by kernels of their own.
Program assembled(const WorkGraph& graph, std::vector<MadeKernel> made);

}  // namespace assay::compiler
