// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "einsum/search/search.h"

namespace assay::einsum {

// Simulated annealing from a tree; the best tree that was met, `start` among them.
Tree search_annealing(const Network& network, const SearchOptions& options, const Tree& start,
                      std::uint64_t seed);

}  // namespace assay::einsum
