// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/block.h"

#include "base/error.h"
#include "transport/blas.h"

namespace assay::transport {

namespace {

// Calls f(source, output, weight) for every term.
template <typename F>
void for_each_term(const Combination<double>& terms, F f) {
  for (const auto& block : terms.blocks) {
    auto place = static_cast<std::size_t>(block.first_weight);
    for (int s = 0; s < block.sources; ++s) {
      const auto source =
          static_cast<std::size_t>(terms.source[static_cast<std::size_t>(block.first_source + s)]);
      const auto* output = terms.output.data() + block.first_output;
      for (int o = 0; o < block.outputs; ++o) {
        f(source, static_cast<std::size_t>(output[o]), terms.weight[place++]);
      }
    }
  }
}

// y += factor·M x or factor·Mᵀ x. The sums of a block are made side by side, in step with the
// weights, and only then go where they belong.
void add_product(const Combination<double>& terms, double factor, bool transposed,
                 std::span<const double> x, std::span<double> y) {
  std::vector<double> local(static_cast<std::size_t>(terms.outputs));
  for (const auto& block : terms.blocks) {
    const auto outputs = static_cast<std::size_t>(block.outputs);
    const auto* output = terms.output.data() + block.first_output;
    const auto* source = terms.source.data() + block.first_source;
    const double* weight = terms.weight.data() + block.first_weight;
    for (std::size_t o = 0; o < outputs; ++o) {
      local[o] = transposed ? x[static_cast<std::size_t>(output[o])] : 0;
    }
    for (int s = 0; s < block.sources; ++s, weight += outputs) {
      const auto at = static_cast<std::size_t>(source[s]);
      if (transposed) {
        double sum = 0;
        for (std::size_t o = 0; o < outputs; ++o) sum += weight[o] * local[o];
        y[at] += factor * sum;
      } else {
        for (std::size_t o = 0; o < outputs; ++o) local[o] += weight[o] * x[at];
      }
    }
    if (transposed) continue;
    for (std::size_t o = 0; o < outputs; ++o) {
      y[static_cast<std::size_t>(output[o])] += factor * local[o];
    }
  }
}

// y += factor·scale·(V + shift·g) x, or with the transpose.
void add_scaled(const BlockSystem::Scaled& at, double factor, std::span<const double> x,
                std::span<double> y, bool transposed) {
  const auto& terms = at.operators.by_row;
  add_product(terms.v, factor * at.scale, transposed, x, y);
  const double g = factor * at.scale * at.shift;
  for (const auto& entry : terms.mirror) {
    const auto source = static_cast<std::size_t>(entry.source);
    const auto output = static_cast<std::size_t>(entry.output);
    transposed ? y[source] += g * entry.value * x[output]
               : y[output] += g * entry.value * x[source];
  }
}

}  // namespace

void add_terms(const Combination<double>& by_row, double factor, std::span<const double> x,
               std::span<double> y) {
  dcheck(
      static_cast<int>(x.size()) == by_row.inputs && static_cast<int>(y.size()) == by_row.outputs,
      "terms are applied to vectors of their sizes");
  add_product(by_row, factor, false, x, y);
}

void apply_lower(const BlockSystem& system, int k, double factor, std::span<const double> x,
                 std::span<double> y, bool transposed) {
  add_scaled(system.lower_at(k), factor, x, y, transposed);
}

void apply_upper(const BlockSystem& system, int k, double factor, std::span<const double> x,
                 std::span<double> y, bool transposed) {
  add_scaled(system.upper_at(k), factor, x, y, transposed);
}

void apply_diagonal_block(const BlockSystem& system, int k, double nu_hat, double epsi_hat,
                          std::span<const double> x, std::span<double> y) {
  const double scalar = BlockSystem::collisions(nu_hat, k);
  for (std::size_t r = 0; r < y.size(); ++r) y[r] += scalar * x[r];
  if (epsi_hat != 0) add_terms(*system.electric, epsi_hat, x, y);
}

template <typename T>
void add_diagonal_block(const BlockSystem& system, int k, double nu_hat, double epsi_hat,
                        bool transposed, std::vector<T>& matrix) {
  const auto n = static_cast<std::size_t>(system.block_size(k));
  const T scalar = static_cast<T>(BlockSystem::collisions(nu_hat, k));
  for (std::size_t r = 0; r < n; ++r) matrix[r + r * n] += scalar;
  if (epsi_hat == 0) return;
  for_each_term(*system.electric, [&](std::size_t c, std::size_t r, double weight) {
    matrix[transposed ? c + r * n : r + c * n] += static_cast<T>(epsi_hat * weight);
  });
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

void scatter_rows(const Combination<double>& by_row, std::span<const int> place,
                  std::vector<double>& matrix) {
  const auto rows = static_cast<std::size_t>(by_row.outputs);
  for_each_term(by_row, [&](std::size_t c, std::size_t r, double weight) {
    matrix[(place.empty() ? r : static_cast<std::size_t>(place[r])) + c * rows] += weight;
  });
}

void add_matrix_vector(const std::vector<double>& matrix, int n, bool transposed,
                       std::span<const double> x, std::span<double> y) {
  blas::gemv(transposed ? blas::Op::kTranspose : blas::Op::kNo, n, n, 1.0, matrix.data(), n,
             x.data(), 1.0, y.data());
}

void SolvedBlock::set_lu(int n, std::vector<double>& factors, const std::vector<int>& pivots,
                         bool transposed) {
  n_ = n;
  inverse_ = false;
  transposed_ = transposed;
  matrix_.swap(factors);
  pivots_ = pivots;
}

void SolvedBlock::set_inverse(int n, std::vector<double>& inverse, bool transposed) {
  n_ = n;
  inverse_ = true;
  transposed_ = transposed;
  matrix_.swap(inverse);
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
