// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>

#include "einsum/search/search.h"

namespace assay::einsum {

// The best of all orders, outer products included; n ≤ 20 terms. Orders that cost `bound` or more
// are not looked at. Nothing is returned where none is left.
std::optional<Tree> search_exact(const Network& network, const SearchOptions& options,
                                 double bound = std::numeric_limits<double>::infinity());

}  // namespace assay::einsum
