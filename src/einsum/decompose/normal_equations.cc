// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/normal_equations.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "kernels/blas/lapack.h"

namespace assay::einsum {
namespace {

template <typename T>
bool finite(const Matrix<T>& m) {
  return std::ranges::all_of(m.data, [](T v) { return std::isfinite(v); });
}

// Γ + ridge·I by Cholesky. Row-major m is the matrix of right-hand sides as LAPACK has it. The
// diagonal of the factor bounds the condition from below: (largest/smallest)² ≤ cond Γ.
template <typename T>
bool cholesky(const Matrix<T>& gamma, T ridge, T least_ratio, Matrix<T>& m) {
  auto factor = gamma;
  auto solution = m;
  for (std::int64_t i = 0; i < gamma.rows; ++i) factor(i, i) += ridge;
  if (!blas::solve_positive_definite<T>(static_cast<int>(gamma.rows), factor.data.data(),
                                        static_cast<int>(m.rows), solution.data.data())) {
    return false;
  }
  T least = factor(0, 0), most = least;
  for (std::int64_t i = 1; i < gamma.rows; ++i) {
    least = std::min(least, factor(i, i));
    most = std::max(most, factor(i, i));
  }
  if (!((least / most) * (least / most) > least_ratio) || !finite(solution)) return false;
  m = std::move(solution);
  return true;
}

template <typename T>
bool truncated(const Matrix<T>& gamma, T cut, Matrix<T>& m) {
  Eigen<T> e;
  try {
    e = falling_eigen(gamma);
  } catch (const UserError&) {  // the iteration did not converge
    return false;
  }
  auto turned = multiply(m, e.vectors);
  for (std::int64_t j = 0; j < gamma.rows; ++j) {
    const T value = e.values[static_cast<std::size_t>(j)];
    const T inverse = value > cut * e.values[0] ? T(1) / value : T(0);
    for (std::int64_t i = 0; i < m.rows; ++i) turned(i, j) *= inverse;
  }
  auto solution = multiply(turned, transposed(e.vectors));
  if (!finite(solution)) return false;
  m = std::move(solution);
  return true;
}

}  // namespace

template <typename T>
SolveStage solve_normal_equations(const Matrix<T>& gamma, Matrix<T>& m) {
  check(gamma.rows == gamma.columns && gamma.rows == m.columns, "a column for each unknown");
  if (!finite(gamma) || !finite(m)) {
    fail("least squares: products with the tensor overflow {}; scale its entries down",
         sizeof(T) == 4 ? "f32" : "f64");
  }
  if (m.data.empty()) return SolveStage::kCholesky;
  // Directions below this, relative to the largest, are rounding.
  const T cut = static_cast<T>(gamma.rows) * std::numeric_limits<T>::epsilon();
  if (cholesky(gamma, T(0), cut, m)) return SolveStage::kCholesky;
  if (truncated(gamma, cut, m)) return SolveStage::kTruncated;
  T largest = 0;
  for (std::int64_t i = 0; i < gamma.rows; ++i) largest = std::max(largest, gamma(i, i));
  T ridge = std::max(std::sqrt(cut) * largest, std::numeric_limits<T>::min());
  while (!cholesky(gamma, ridge, T(0), m)) {
    ridge *= 16;
    check(std::isfinite(ridge), "a large enough ridge makes any finite system solvable");
  }
  return SolveStage::kRidge;
}

template SolveStage solve_normal_equations(const Matrix<float>&, Matrix<float>&);
template SolveStage solve_normal_equations(const Matrix<double>&, Matrix<double>&);

}  // namespace assay::einsum
