// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "einsum/search/search.h"

namespace assay::einsum {

// Searches windows of up to ten nodes of the tree anew, exactly, until none gets better.
Tree improve_windows(const Network& network, const SearchOptions& options, Tree tree);

}  // namespace assay::einsum
