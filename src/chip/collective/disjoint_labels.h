// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace assay::chip {

// New labels for a tree's nodes, so that the relabelled tree shares as few edges as possible with
// the tree itself (none from p = 5 on, as far as was tried: up to 64), and no node has more
// neighbours in both together than the most of either one's inner nodes must have. `parents`: of
// each node, -1 for the root. Deterministic; p^3 for small trees, about p^2 for large ones.
std::vector<std::int32_t> disjoint_labels(const std::vector<std::int32_t>& parents);

}  // namespace assay::chip
