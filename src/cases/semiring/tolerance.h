// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "semiring/algebra.h"
#include "tensor/dtype.h"

namespace assay::cases::semiring {

// How far a right answer may lie from the oracle: |out − ref| ≤ atol + rtol·|ref|. Derived in
// tolerance.cc from the dtype's unit roundoff and the length of the reduction.
struct Tolerance {
  double rtol, atol;
};

// Over k terms. `largest_term` bounds |a + b| where the algebra adds; inputs have unit variance
// where it multiplies.
Tolerance matmul_tolerance(assay::semiring::Algebra algebra, DType dtype, std::int64_t k,
                           double largest_term);

// Edges: a product with W over `features` terms, then `slots` weighted ones.
Tolerance edge_tolerance(DType dtype, std::int64_t features, std::int64_t slots);

}  // namespace assay::cases::semiring
