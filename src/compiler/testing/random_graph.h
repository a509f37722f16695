// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Graphs that nobody would write: all operations, dtypes and kinds of views, with symbols.

#include <cstdint>

#include "compiler/graph/graph.h"

namespace assay::compiler {

// About `operations` operations beside the movement between them, of which some are the known ones
// (matmul, softmax, norms). The same seed gives the same graph.
Graph random_graph(std::uint64_t seed, int operations = 12);
// The same with axes of which many are 0 or 1, or symbols that can be 0.
Graph random_graph_with_empty_axes(std::uint64_t seed, int operations = 12);
// With axes as long as blocks and tiles are, and a little more, up to 2^16 elements; and what
// models are made of among the operations: attention, rotary, the greatest few, experts.
Graph random_model_graph(std::uint64_t seed, int operations = 6);

}  // namespace assay::compiler
