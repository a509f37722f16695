// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Products that are never written down because only their sums are wanted, and what interpreting a
// graph costs for it.

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/graph/graph.h"

namespace assay::compiler {

// A product of which only a sum is wanted (matmul) is never written down: element by element it is
// computed, rounded, and added. Such a node has no value; the sum reads through it by these views.
struct SumOfProducts {
  NodeId product = 0;
  View a, b;  // of the sum's operand's shape, over the product's operands
};
std::optional<SumOfProducts> sum_of_products(const Graph& graph, NodeId sum,
                                             const std::vector<std::uint32_t>& reader_counts);
// How many operands and outputs read each node.
std::vector<std::uint32_t> reader_counts(const Graph& graph);

// How many elements an interpretation computes, those of sums' terms among them: what it costs.
double interpreted_elements(const Graph& graph, const Bindings& symbols);

// Which nodes are an input, widened for products and gathers alone: those convert what they read,
// and the whole, a model's weights in f64, is never made. `is_product` says which nodes are
// computed where they are summed.
std::vector<bool> casts_read_through(const Graph& graph, const std::vector<bool>& is_product);

}  // namespace assay::compiler
