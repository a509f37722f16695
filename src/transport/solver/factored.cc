// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/solver/factored.h"

#include <algorithm>

#include "base/attend.h"
#include "kernels/blas/blas.h"
#include "kernels/blas/lapack.h"
#include "transport/solver/structured.h"

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
    if (k > 0) apply_lower(system, k, 1, x[at - 1], y[at]);
    if (k < system.n_xi) apply_upper(system, k, 1, x[at + 1], y[at]);
  }
  if (system.pinned) y[0][0] = x[0][0];
  return y;
}

FactoredSystem::FactoredSystem(const BlockSystem& system, double nu_hat, double epsi_hat,
                               int highest_double)
    : system_(&system), inverse_(static_cast<std::size_t>(system.n_xi) + 1) {
  StructuredElimination<float> single;
  single.start(system, nu_hat, epsi_hat);
  while (single.k() > highest_double && single.k() >= 1) {
    attend();
    single.invert();
    auto& kept = inverse_[static_cast<std::size_t>(single.k())];
    kept.transposed = single.transposed();
    single.descend(&kept.f32);
  }
  StructuredElimination<double> e;
  single.k() == system.n_xi ? e.start(system, nu_hat, epsi_hat) : e.take_over(single);
  while (e.k() >= 1) {
    attend();
    e.invert();
    auto& kept = inverse_[static_cast<std::size_t>(e.k())];
    kept.transposed = e.transposed();
    e.descend(&kept.f64);
  }
  const int n = system.block_size(0);
  lu_transposed_ = e.transposed();
  lu_ = std::move(e.delta());
  if (system.pinned) pin_first_row(n, lu_transposed_, lu_);
  singular_ = !factor_lu(n, lu_.data(), factors_);
}

void FactoredSystem::multiply_inverse(int k, bool transposed, std::vector<double>& x) const {
  const int n = system_->block_size(k);
  const auto op = [&](bool stored_transposed) {
    return transposed != stored_transposed ? blas::Op::kTranspose : blas::Op::kNone;
  };
  if (k == 0) {
    blas::solve_lu(op(lu_transposed_), n, 1, lu_.data(), n, factors_.pivots, x.data(), n);
    return;
  }
  const auto multiply = [&]<typename T>(const std::vector<T>& matrix, bool stored_transposed) {
    const std::vector<T> in(x.begin(), x.end());
    std::vector<T> out(x.size(), T{0});
    blas::gemv_columns(op(stored_transposed), n, n, T{1}, matrix.data(), n, in.data(), 1, T{0},
                       out.data(), 1);
    std::copy(out.begin(), out.end(), x.begin());
  };
  const auto& inverse = inverse_[static_cast<std::size_t>(k)];
  inverse.f64.empty() ? multiply(inverse.f32, inverse.transposed)
                      : multiply(inverse.f64, inverse.transposed);
}

void FactoredSystem::sweep(Modes& x, bool transposed) const {
  solve_by_blocks(*system_, x, transposed,
                  [&](int k, std::vector<double>& y) { multiply_inverse(k, transposed, y); });
}

// A = (1 + U Δ⁻¹)·Δ·(1 + Δ⁻¹ L), so with z_k = Δ_k⁻¹ σ_k:
//   σ_k = s_k − U_k z_{k+1}  from the top,  f_0 = z_0,  f_k = z_k − Δ_k⁻¹ L_k f_{k−1}.
// The transpose has the same form with L_{k+1}ᵀ for U_k, U_{k−1}ᵀ for L_k and Δ_kᵀ for Δ_k. The
// pinned row of U_0 is zero.
void solve_by_blocks(const BlockSystem& system, Modes& x, bool transposed,
                     const std::function<void(int k, std::vector<double>& y)>& solve_block) {
  const auto vectors = x[0].size() / static_cast<std::size_t>(system.block_size(0));
  for (int k = system.n_xi; k >= 0; --k) {
    const auto at = static_cast<std::size_t>(k);
    if (k < system.n_xi) {
      const std::vector<double> pinned(x[0].begin(), x[0].begin() + static_cast<long>(vectors));
      transposed ? apply_lower(system, k + 1, -1, x[at + 1], x[at], true)
                 : apply_upper(system, k, -1, x[at + 1], x[at]);
      if (k == 0 && system.pinned && !transposed) std::ranges::copy(pinned, x[0].begin());
    }
    solve_block(k, x[at]);
    attend();
  }
  for (int k = 1; k <= system.n_xi; ++k) {
    const auto at = static_cast<std::size_t>(k);
    auto below = x[at - 1];
    if (k == 1 && system.pinned && transposed) std::fill_n(below.begin(), vectors, 0.0);
    std::vector<double> correction(x[at].size(), 0.0);
    transposed ? apply_upper(system, k - 1, -1, below, correction, true)
               : apply_lower(system, k, -1, below, correction);
    solve_block(k, correction);
    for (std::size_t r = 0; r < correction.size(); ++r) x[at][r] += correction[r];
  }
}

}  // namespace assay::transport
