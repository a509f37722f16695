// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a kernel computes, built of primitives: its definition, which runtimes are held to.

#include "compiler/graph/graph.h"
#include "compiler/program/program.h"

namespace assay::compiler {

// "operand0", "operand1", …
std::string operand_name(std::uint32_t operand);

// Inputs are the operands that it reads, outputs those that it writes, as they lie there, by name.
// An operand that it changes in place is replaced.
struct KernelDefinition {
  Graph graph;
  std::vector<std::uint32_t> reads, writes;  // operands, as graph.inputs() and outputs() have them
};
KernelDefinition definition_of(const Kernel& kernel, const Symbols& symbols);

// The kernel by itself: one step, operands as the graph's inputs and outputs.
Program program_of(const Kernel& kernel, const Symbols& symbols);

}  // namespace assay::compiler
