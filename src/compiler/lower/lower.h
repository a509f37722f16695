// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a graph whose kernels are chosen to a program: what is left over becomes regions, as large
// as one visit of each row allows.

#include <set>

#include "compiler/lower/work_graph.h"
#include "compiler/program/program.h"

namespace assay::compiler {

struct FuseChoices {
  std::set<NodeId> kept;  // nodes that get a buffer of their own, whether or not they need one
  bool epilogues = true;  // products do what is done with their sums
  bool shares = true;     // a region writes what it computes anyway for others
  bool regions = true;    // false: a kernel for each node
  bool in_place = true;   // scatters overwrite what nobody else reads
};

// The program computes each output of the graph from its inputs. Checked (check_program).
Program lower(const WorkGraph& graph, const FuseChoices& choices = {});

}  // namespace assay::compiler
