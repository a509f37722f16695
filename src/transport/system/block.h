// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one does with a block of the system: form it, apply it to a vector, keep it solved.
// Matrices are column-major without gaps. Vectors may be several, side by side: element r of vector
// i of m is x[i + r·m], and m follows from the length of x.

#include <cstddef>
#include <span>
#include <vector>

#include "transport/system/operators.h"

namespace assay::transport {

// y += factor·(terms by row)·x.
void add_terms(const Combination<double>& by_row, double factor, std::span<const double> x,
               std::span<double> y);
// y += factor·L_k x, y += factor·U_k x; or with their transposes. The pinned row is the caller's.
void apply_lower(const BlockSystem& system, int k, double factor, std::span<const double> x,
                 std::span<double> y, bool transposed = false);
void apply_upper(const BlockSystem& system, int k, double factor, std::span<const double> x,
                 std::span<double> y, bool transposed = false);
// y += D_k x.
void apply_diagonal_block(const BlockSystem& system, int k, double nu_hat, double epsi_hat,
                          std::span<const double> x, std::span<double> y);

// matrix += D_k, or its transpose.
template <typename T>
void add_diagonal_block(const BlockSystem& system, int k, double nu_hat, double epsi_hat,
                        bool transposed, std::vector<T>& matrix);
// Makes row 0 of an n×n matrix (column 0 of a transposed one) that of the identity.
template <typename T>
void pin_first_row(int n, bool transposed, std::vector<T>& matrix);

// V + shift·g as a full matrix: L_k and U_k but for their scale. From one k to the next only the
// few entries that g has a part in change.
class FullStreaming {
 public:
  // Null before the first set().
  const Streaming* operators() const { return operators_; }
  void set(const Streaming* operators);
  const std::vector<double>& shifted(double shift);

 private:
  const Streaming* operators_ = nullptr;
  std::vector<double> matrix_;
  std::vector<double> v_;  // of the entries of g, in their order
};

// y += M x or Mᵀ x for an n×n matrix, n > 0.
void add_matrix_vector(const std::vector<double>& matrix, int n, bool transposed,
                       std::span<const double> x, std::span<double> y);

// A block Δ_k after its elimination: as LU factors or as inverse, possibly of the transpose.
class SolvedBlock {
 public:
  // Both take the matrix, and leave in its place memory that was used before.
  void set_lu(int n, std::vector<double>& factors, const std::vector<int>& pivots,
              bool transposed = false);
  void set_inverse(int n, std::vector<double>& inverse, bool transposed);
  // x ← Δ_k⁻¹ x.
  void solve(std::vector<double>& x) const;

 private:
  int n_ = 0;
  bool inverse_ = false, transposed_ = false;
  std::vector<double> matrix_;
  std::vector<int> pivots_;
};

}  // namespace assay::transport
