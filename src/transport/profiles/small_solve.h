// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace assay::transport {

// Solves A x = b for a small matrix (row-major, destroyed); x replaces b. Rows and columns are
// first scaled to one another, since species differ by the root of their masses. False where a
// pivot vanishes against its matrix.
bool solve_small(std::size_t n, std::vector<double>& a, std::vector<double>& b);

}  // namespace assay::transport
