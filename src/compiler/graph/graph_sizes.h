// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a graph is at given values of its symbols: how large, and whether it makes sense there.

#include <string>

#include "compiler/graph/graph.h"

namespace assay::compiler {

// "node 3 (mul f32 [s, 8])", of an input with its name.
std::string described(const Graph& graph, NodeId id);

// Not in 64 bits, which it need not fit.
double bytes_of(const Node& node, const Bindings& symbols);
// Of all inputs and outputs.
double bytes_of_operands(const Graph& graph, const Bindings& symbols);

// Throws UserError that names the node: an extent below 0, more bytes than 64 bits count, a view
// that reads outside of what it reads.
void check_sizes(const Graph& graph, const Bindings& symbols);

}  // namespace assay::compiler
