// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/system/block.h"

#include "base/error.h"
#include "kernels/blas/blas.h"
#include "kernels/blas/lapack.h"
#include "transport/kernels/kernels.h"

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

// Where an entry of g is in a matrix with the outputs of these terms as rows.
std::size_t place_of(const Streaming::Mirror& g, const Combination<double>& v) {
  return static_cast<std::size_t>(g.output) + elements(g.source, v.outputs);
}

// y += factor·scale·(V + shift·g) x, or with the transpose.
void add_scaled(const BlockSystem::Scaled& at, double factor, std::span<const double> x,
                std::span<double> y, bool transposed) {
  const auto& [v, mirror] = transposed ? at.operators.by_column : at.operators.by_row;
  add_terms(v, factor * at.scale, x, y);
  const std::size_t vectors = x.size() / static_cast<std::size_t>(v.inputs);
  for (const auto& g : mirror) {
    const double weight = factor * at.scale * at.shift * g.value;
    for (std::size_t i = 0; i < vectors; ++i) {
      y[static_cast<std::size_t>(g.output) * vectors + i] +=
          weight * x[static_cast<std::size_t>(g.source) * vectors + i];
    }
  }
}

}  // namespace

void add_terms(const Combination<double>& by_row, double factor, std::span<const double> x,
               std::span<double> y) {
  const auto vectors = static_cast<int>(x.size()) / by_row.inputs;
  dcheck(
      x.size() == elements(vectors, by_row.inputs) && y.size() == elements(vectors, by_row.outputs),
      "terms are applied to vectors of their sizes");
  std::vector<double> sum(y.size());
  combine_columns(vectors, x.data(), by_row, false, sum.data());
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += factor * sum[i];
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
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += scalar * x[i];
  if (epsi_hat != 0) add_terms(*system.electric, epsi_hat, x, y);
}

template <typename T>
void add_diagonal_block(const BlockSystem& system, int k, double nu_hat, double epsi_hat,
                        bool transposed, std::vector<T>& matrix) {
  const auto n = static_cast<std::size_t>(system.block_size(k));
  const T scalar = static_cast<T>(BlockSystem::collisions(nu_hat, k));
  for (std::size_t r = 0; r < n; ++r) matrix[r + r * n] += scalar;
  if (epsi_hat == 0) return;
  const std::size_t row_step = transposed ? n : 1, column_step = transposed ? 1 : n;
  for_each_term(*system.electric, [&](std::size_t c, std::size_t r, double weight) {
    matrix[r * row_step + c * column_step] += static_cast<T>(epsi_hat * weight);
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

void FullStreaming::set(const Streaming* operators) {
  operators_ = operators;
  if (operators == nullptr) return;
  const auto& [v, mirror] = operators->by_row;
  matrix_.assign(elements(v.outputs, v.inputs), 0.0);
  const auto rows = static_cast<std::size_t>(v.outputs);
  for_each_term(
      v, [&](std::size_t c, std::size_t r, double weight) { matrix_[r + c * rows] += weight; });
  v_.clear();
  for (const auto& g : mirror) v_.push_back(matrix_[place_of(g, v)]);
}

const std::vector<double>& FullStreaming::shifted(double shift) {
  const auto& [v, mirror] = operators_->by_row;
  for (std::size_t i = 0; i < mirror.size(); ++i) {
    matrix_[place_of(mirror[i], v)] = v_[i] + shift * mirror[i].value;
  }
  return matrix_;
}

void add_matrix_vector(const std::vector<double>& matrix, int n, bool transposed,
                       std::span<const double> x, std::span<double> y) {
  const auto rows = static_cast<std::size_t>(n), vectors = x.size() / rows;
  std::vector<double> in(rows), out(rows);  // BLAS is quickest where nothing lies between
  for (std::size_t i = 0; i < vectors; ++i) {
    for (std::size_t r = 0; r < rows; ++r) {
      in[r] = x[r * vectors + i];
      out[r] = y[r * vectors + i];
    }
    blas::gemv_columns(transposed ? blas::Op::kTranspose : blas::Op::kNone, n, n, 1.0,
                       matrix.data(), n, in.data(), 1, 1.0, out.data(), 1);
    for (std::size_t r = 0; r < rows; ++r) y[r * vectors + i] = out[r];
  }
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
  std::vector<double> y(x.size(), 0.0);
  if (inverse_) {
    add_matrix_vector(matrix_, n_, transposed_, x, y);
    x = std::move(y);
    return;
  }
  // LAPACK has one vector behind the other.
  const std::size_t n = static_cast<std::size_t>(n_), vectors = x.size() / n;
  for (std::size_t i = 0; i < x.size(); ++i) y[i % vectors * n + i / vectors] = x[i];
  for (std::size_t i = 0; i < vectors; ++i) {
    blas::solve_lu(transposed_ ? blas::Op::kTranspose : blas::Op::kNone, n_, 1, matrix_.data(), n_,
                   pivots_, y.data() + i * n, n_);
  }
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = y[i % vectors * n + i / vectors];
}

}  // namespace assay::transport
