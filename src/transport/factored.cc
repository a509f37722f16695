// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/factored.h"

#include "transport/blas.h"
#include "transport/structured.h"

namespace assay::transport {

Modes zero_modes(const BlockSystem& system) {
  Modes x;
  for (int k = 0; k <= system.n_xi; ++k) {
    x.emplace_back(static_cast<std::size_t>(system.block_size(k)), 0.0);
  }
  return x;
}

Modes from_three_blocks(const BlockSystem& system, const ThreeBlocks& blocks) {
  Modes x = zero_modes(system);
  for (std::size_t k = 0; k < 3; ++k) x[k] = blocks[k];
  return x;
}

double dot(const Modes& a, const Modes& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    for (std::size_t r = 0; r < a[k].size(); ++r) sum += a[k][r] * b[k][r];
  }
  return sum;
}

Modes apply_system(const BlockSystem& system, double nu_hat, double epsi_hat, const Modes& x) {
  Modes y = zero_modes(system);
  for (int k = 0; k <= system.n_xi; ++k) {
    const auto at = static_cast<std::size_t>(k);
    apply_diagonal_block(system, k, nu_hat, epsi_hat, x[at], y[at]);
    if (k > 0) apply_lower(system, k, x[at - 1], y[at]);
    if (k < system.n_xi) apply_upper(system, k, x[at + 1], y[at]);
  }
  if (system.pinned) y[0][0] = x[0][0];
  return y;
}

template <typename T>
FactoredSystem<T>::FactoredSystem(const BlockSystem& system, double nu_hat, double epsi_hat)
    : system_(&system), inverse_(static_cast<std::size_t>(system.n_xi) + 1) {
  StructuredElimination<T> e;
  e.start(system, nu_hat, epsi_hat);
  while (e.k() >= 1) {
    e.invert();
    inverse_[static_cast<std::size_t>(e.k())] = {e.delta(), e.transposed()};
    e.descend();
  }
  const int n = system.block_size(0);
  lu_transposed_ = e.transposed();
  lu_.assign(e.delta().begin(), e.delta().end());
  if (system.pinned) pin_first_row(n, lu_transposed_, lu_);
  singular_ = !blas::factor_lu(n, lu_.data(), n, pivots_);
}

template <typename T>
void FactoredSystem<T>::multiply_inverse(int k, bool transposed, std::vector<double>& x) const {
  const int n = system_->block_size(k);
  if (k == 0) {
    blas::solve_lu(transposed != lu_transposed_ ? blas::Op::kTranspose : blas::Op::kNo, n, 1,
                   lu_.data(), n, pivots_, x.data(), n);
    return;
  }
  const auto& inverse = inverse_[static_cast<std::size_t>(k)];
  const std::vector<T> in(x.begin(), x.end());
  std::vector<T> out(x.size(), T{0});
  blas::gemv(transposed != inverse.transposed ? blas::Op::kTranspose : blas::Op::kNo, n, n, T{1},
             inverse.matrix.data(), n, in.data(), T{0}, out.data());
  std::copy(out.begin(), out.end(), x.begin());
}

// A = (1 + U Δ⁻¹)·Δ·(1 + Δ⁻¹ L), so with z_k = Δ_k⁻¹ σ_k:
//   σ_k = s_k − U_k z_{k+1}  from the top,  f_0 = z_0,  f_k = z_k − Δ_k⁻¹ L_k f_{k−1}.
// The transpose has the same form with L_{k+1}ᵀ for U_k, U_{k−1}ᵀ for L_k and Δ_kᵀ for Δ_k. The
// pinned row of U_0 is zero.
template <typename T>
void FactoredSystem<T>::sweep(Modes& x, bool transposed) const {
  Combination<double> terms;
  const auto subtract = [&](bool by_transpose, std::vector<double> from, std::vector<double>& to) {
    for (auto& v : from) v = -v;
    by_transpose ? add_terms_transposed(terms, from, to) : add_terms(terms, from, to);
  };
  for (int k = system_->n_xi; k >= 0; --k) {
    const auto at = static_cast<std::size_t>(k);
    if (k < system_->n_xi) {
      transposed ? system_->lower_by_row(k + 1, terms) : system_->upper_by_row(k, 1, terms);
      const double pinned = x[0][0];
      subtract(transposed, x[at + 1], x[at]);
      if (k == 0 && system_->pinned && !transposed) x[0][0] = pinned;
    }
    multiply_inverse(k, transposed, x[at]);
  }
  for (int k = 1; k <= system_->n_xi; ++k) {
    const auto at = static_cast<std::size_t>(k);
    auto below = x[at - 1];
    if (k == 1 && system_->pinned && transposed) below[0] = 0;
    transposed ? system_->upper_by_row(k - 1, 1, terms) : system_->lower_by_row(k, terms);
    std::vector<double> correction(x[at].size(), 0.0);
    subtract(transposed, std::move(below), correction);
    multiply_inverse(k, transposed, correction);
    for (std::size_t r = 0; r < correction.size(); ++r) x[at][r] += correction[r];
  }
}

template class FactoredSystem<double>;
template class FactoredSystem<float>;

}  // namespace assay::transport
