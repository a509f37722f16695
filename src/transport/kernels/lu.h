// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// LU with row exchanges whose work is matrix products, in shapes that BLAS runs at its full rate:
// at n = 425 OpenBLAS's own dgetrf runs at 42 % of the rate of its dgemm and its triangular solve
// at 30 %. Matrices are column-major without gaps.

#include <vector>

namespace assay::transport {

struct LuFactors {
  int n = 0;
  // P·A = L·U: row p was exchanged with row pivots[p] − 1, for p in order (LAPACK counts from 1).
  std::vector<int> pivots;
  std::vector<double> leaves;  // inverses of the 32×32 blocks on the diagonal of L
};

// Factors an n×n matrix in place: L below the diagonal, U on it and above. False when a pivot is
// exactly zero. ⅔n³ flops.
bool factor_lu(int n, double* a, LuFactors& factors);

// B ← B·A⁻¹ for a rows×n matrix. 2·rows·n² flops.
void solve_lu_from_right(const double* lu, const LuFactors& factors, int rows, double* b);

}  // namespace assay::transport
