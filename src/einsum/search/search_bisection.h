// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "einsum/search/search.h"

namespace assay::einsum {

// Cuts the network in two again and again where few and small labels cross the cut; pieces of up to
// ten terms are searched exactly.
Tree search_bisection(const Network& network, const SearchOptions& options, std::uint64_t seed);

}  // namespace assay::einsum
