// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// C_ij = log Σ_k exp(A_ik + B_kj) by scaling and multiplying:
//
//   a_i = max_k A_ik,  b_j = max_k B_kj,  S_ij = Σ_k e^(A_ik − a_i) · e^(B_kj − b_j)
//   C_ij = a_i + b_j + log S_ij
//
// m·k + k·n exponentials and one real product instead of m·k·n exponentials. What this can lose is
// what underflows in the factors; S_ij tells: if it is far above k times the smallest normal
// number, nothing that mattered was lost. Every entry is held to that, and those that fail are
// computed again from their terms. docs/methods/semiring.md has the bound and its proof:
//
//   |C − exact| ≤ u·(8·√k + 16) + 4u·|C|
//
// to which the exact path adds 8u times the largest |A_ik + B_kj|.
//
// NaN, infinities and rows of −∞ come out as in the reference.

#include "semiring/simd/matrix.h"

namespace assay::semiring::simd {

// Returns the number of entries that were computed again. T: float, double.
template <typename T>
std::int64_t log_product(const Matrix<T>& a, const Matrix<T>& b, const Extents& e,
                         const Output<T>& c, const Execution& execution);

}  // namespace assay::semiring::simd
