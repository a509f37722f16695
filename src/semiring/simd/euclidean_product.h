// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// C_ij = √ Σ_k (A_ik − B_kj)² by norms and one real product:
//
//   x = A_i − c,  y = B_j − c,  C_ij² = ‖x‖² + ‖y‖² − 2 x·y   with a centre c common to all
//
// Half the instructions of the direct form. What is lost is in proportion to ‖x‖² + ‖y‖²: where the
// result is a small part of that (near duplicates), it is refused and computed again directly.
// docs/methods/semiring.md has the bound and its proof:  |C − exact| ≤ u·(8·√k + 16)·C.
//
// f32 squares that overflow or vanish are computed in f64, as the reference does it; f64 overflows
// as the reference does, and has no such bound where squares are denormal. NaN and infinities come
// out as in the reference.

#include "semiring/simd/matrix.h"

namespace assay::semiring::simd {

// Returns the number of entries that were computed again. T: float, double.
template <typename T>
std::int64_t euclidean_product(const Matrix<T>& a, const Matrix<T>& b, const Extents& e,
                               const Output<T>& c, const Execution& execution);

}  // namespace assay::semiring::simd
