// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Operands as the steps see them: diagonals are views with summed strides, axes of extent 1 are
// gone, labels are cut to the part that one slice sees.

#include <span>
#include <vector>

#include "einsum/labels/layout.h"
#include "einsum/labels/network.h"

namespace assay::einsum {

// The layout of a tensor whose axes have these labels and strides. `extents` by label, as the steps
// see them; axes along which `shape` has extent 1 are left out.
Layout layout_of(std::span<const Label> axes, const Shape& shape,
                 std::span<const std::int64_t> strides, std::span<const std::int64_t> extents);

// Nodes with equal label sets are joined before the search: nothing of theirs can be summed before
// they meet, so meeting first never costs more. Returns merges over the given nodes (as a Tree
// would have them), the remaining nodes and their sets.
struct Joined {
  Tree merges;
  std::vector<int> nodes;
  std::vector<LabelSet> sets;
};
Joined join_equal_terms(std::vector<LabelSet> terms, const LabelSet& output);

// The merges of `inner`, a tree over `nodes`, appended to those of `outer`, a tree over `terms`
// nodes.
Tree append(const Tree& outer, const std::vector<int>& nodes, const Tree& inner, std::size_t terms);

// The same tree, merges in an order that keeps few bytes alive: of two inputs of a merge, the one
// whose making needs more above what it leaves is made first. `sizes` are elements of all nodes;
// the first `terms` of them are alive anyway.
Tree in_memory_order(const Tree& tree, std::size_t terms, std::span<const double> sizes);

}  // namespace assay::einsum
