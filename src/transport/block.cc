// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/block.h"

#include "base/error.h"
#include "transport/blas.h"

namespace assay::transport {

void add_terms(const Combination<double>& by_row, std::span<const double> x, std::span<double> y) {
  dcheck(
      static_cast<int>(x.size()) == by_row.inputs && static_cast<int>(y.size()) == by_row.outputs,
      "terms are applied to vectors of their sizes");
  const auto width = static_cast<std::size_t>(by_row.width);
  for (std::size_t r = 0; r < y.size(); ++r) {
    double sum = 0;
    for (std::size_t i = r * width; i < (r + 1) * width; ++i) {
      sum += by_row.weight[i] * x[static_cast<std::size_t>(by_row.source[i])];
    }
    y[r] += sum;
  }
}

void add_terms_transposed(const Combination<double>& by_row, std::span<const double> x,
                          std::span<double> y) {
  const auto width = static_cast<std::size_t>(by_row.width);
  for (std::size_t r = 0; r < x.size(); ++r) {
    for (std::size_t i = r * width; i < (r + 1) * width; ++i) {
      y[static_cast<std::size_t>(by_row.source[i])] += by_row.weight[i] * x[r];
    }
  }
}

void apply_lower(const BlockSystem& system, int k, std::span<const double> x, std::span<double> y) {
  Combination<double> terms;
  system.lower_by_row(k, terms);
  add_terms(terms, x, y);
}

void apply_upper(const BlockSystem& system, int k, std::span<const double> x, std::span<double> y) {
  Combination<double> terms;
  system.upper_by_row(k, 1, terms);
  add_terms(terms, x, y);
}

void apply_diagonal_block(const BlockSystem& system, int k, double nu_hat, double epsi_hat,
                          std::span<const double> x, std::span<double> y) {
  const double scalar = BlockSystem::collisions(nu_hat, k);
  for (std::size_t r = 0; r < y.size(); ++r) y[r] += scalar * x[r];
  if (epsi_hat == 0) return;
  Combination<double> terms;
  weigh(*system.electric, epsi_hat, 0, terms);
  add_terms(terms, x, y);
}

template <typename T>
void add_diagonal_block(const BlockSystem& system, int k, double nu_hat, double epsi_hat,
                        bool transposed, std::vector<T>& matrix) {
  const auto n = static_cast<std::size_t>(system.block_size(k));
  const T scalar = static_cast<T>(BlockSystem::collisions(nu_hat, k));
  for (std::size_t r = 0; r < n; ++r) matrix[r + r * n] += scalar;
  if (epsi_hat == 0) return;
  const auto& terms = *system.electric;
  const auto width = static_cast<std::size_t>(terms.width);
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t i = r * width + 1; i < (r + 1) * width; ++i) {  // slot 0 is empty
      const auto c = static_cast<std::size_t>(terms.source[i]);
      matrix[transposed ? c + r * n : r + c * n] += static_cast<T>(epsi_hat * terms.weight[i]);
    }
  }
}
template void add_diagonal_block(const BlockSystem&, int, double, double, bool,
                                 std::vector<double>&);
template void add_diagonal_block(const BlockSystem&, int, double, double, bool,
                                 std::vector<float>&);

template <typename T>
void pin_first_row(int n, bool transposed, std::vector<T>& matrix) {
  const auto step = transposed ? std::size_t{1} : static_cast<std::size_t>(n);
  for (std::size_t c = 0; c < static_cast<std::size_t>(n); ++c) matrix[c * step] = 0;
  matrix[0] = 1;
}
template void pin_first_row(int, bool, std::vector<double>&);
template void pin_first_row(int, bool, std::vector<float>&);

void scatter_columns(const Combination<double>& by_column, int rows, std::vector<double>& matrix) {
  const auto width = static_cast<std::size_t>(by_column.width);
  for (std::size_t i = 0; i < by_column.weight.size(); ++i) {
    const auto c = i / width;
    matrix[static_cast<std::size_t>(by_column.source[i]) + c * static_cast<std::size_t>(rows)] +=
        by_column.weight[i];
  }
}

void scatter_rows(const Combination<double>& by_row, int rows, std::vector<double>& matrix) {
  const auto width = static_cast<std::size_t>(by_row.width);
  for (std::size_t i = 0; i < by_row.weight.size(); ++i) {
    const auto r = i / width;
    matrix[r + static_cast<std::size_t>(by_row.source[i]) * static_cast<std::size_t>(rows)] +=
        by_row.weight[i];
  }
}

void add_matrix_vector(const std::vector<double>& matrix, int n, bool transposed,
                       std::span<const double> x, std::span<double> y) {
  blas::gemv(transposed ? blas::Op::kTranspose : blas::Op::kNo, n, n, 1.0, matrix.data(), n,
             x.data(), 1.0, y.data());
}

void SolvedBlock::set_lu(int n, const std::vector<double>& factors, std::vector<int> pivots,
                         bool transposed) {
  n_ = n;
  inverse_ = false;
  transposed_ = transposed;
  matrix_ = factors;
  pivots_ = std::move(pivots);
}

void SolvedBlock::set_inverse(int n, const std::vector<double>& inverse, bool transposed) {
  n_ = n;
  inverse_ = true;
  transposed_ = transposed;
  matrix_ = inverse;
}

void SolvedBlock::solve(std::vector<double>& x) const {
  if (inverse_) {
    std::vector<double> y(x.size(), 0.0);
    add_matrix_vector(matrix_, n_, transposed_, x, y);
    x = std::move(y);
    return;
  }
  blas::solve_lu(transposed_ ? blas::Op::kTranspose : blas::Op::kNo, n_, 1, matrix_.data(), n_,
                 pivots_, x.data(), n_);
}

}  // namespace assay::transport
