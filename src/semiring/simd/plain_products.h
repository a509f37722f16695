// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Products whose ⊗ and ⊕ are instructions: real, max_plus, min_plus, boolean.

#include "semiring/simd/matrix.h"

namespace assay::semiring::simd {

// C = A·B. Small products whose rows are contiguous are multiplied where they lie; all others are
// packed. T: float, double.
template <typename T>
void real_product(const Matrix<T>& a, const Matrix<T>& b, const Extents& e, const Output<T>& c,
                  const Execution& execution);

// C_ij = max_k (A_ik + B_kj). The fast tiles lose a NaN that a term brings in; packing notes which
// panels hold NaN or infinities, and only the pairs of panels that can make a NaN take the careful
// tiles, at about half the speed. min likewise.
template <typename T>
void max_plus_product(const Matrix<T>& a, const Matrix<T>& b, const Extents& e, const Output<T>& c,
                      const Execution& execution);
template <typename T>
void min_plus_product(const Matrix<T>& a, const Matrix<T>& b, const Extents& e, const Output<T>& c,
                      const Execution& execution);

// C_ij = or_k (A_ik and B_kj), 32 columns in each operation: B is packed into bits first.
// Memory beside packing: n/8 bytes for each row of B and of C, four bytes for each element of A.
void boolean_product(const Matrix<bool>& a, const Matrix<bool>& b, const Extents& e,
                     const Output<bool>& c, const Execution& execution);

}  // namespace assay::semiring::simd
