// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where no best approximation of a rank exists, two components of a CP decomposition grow without
// end and cancel each other ever better. This tells such a run from one that has merely not
// converged.

#include <vector>

#include "einsum/decompose/matrix.h"

namespace assay::einsum {

// What shows after a sweep whether components run away. Cosines are those between components: the
// products of those between their columns, over all modes.
struct CpState {
  double largest_weight = 0;
  double lowest_cosine = 1;
};
template <typename T>
CpState cp_state(const std::vector<T>& weights, const Matrix<T>& cosines);

// Whether two components run away in a run of these states, one per sweep, whose tensor has this
// norm. Never of runs too short to tell.
bool is_degenerate(const std::vector<CpState>& sweeps, double norm);

// The cosine between two components that is furthest from 0.
template <typename T>
double congruence(const Matrix<T>& cosines);

}  // namespace assay::einsum
