// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Networks with known optima, and random ones, for tests and benchmarks.

#include <cstdint>
#include <string>
#include <vector>

#include "einsum/labels/network.h"
#include "tensor/shape.h"

namespace assay::einsum {

struct PlannerRow {
  std::string expression;
  std::vector<std::int64_t> extents;  // of the labels in order of appearance
  double min_mac, min_flop;
};

// Expressions with their exact minima.
std::vector<PlannerRow> planner_table();

// The shapes of an expression's operands; extents of the labels in order of appearance.
std::vector<Shape> shapes_of(const std::string& expression,
                             const std::vector<std::int64_t>& extents);
Network network_of(const std::string& expression, const std::vector<std::int64_t>& extents);

// A connected random network: each term has about `regularity` labels that it shares with another,
// extents from 2 to `max_extent`, two open labels.
Network random_network(int terms, int regularity, int max_extent, std::uint64_t seed);

}  // namespace assay::einsum
