// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/eliminate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "transport/blas.h"
#include "transport/block.h"
#include "transport/structured.h"

namespace assay::transport {

struct EliminationWorkspace::Buffers {
  StructuredElimination<double> structured;
  std::vector<double> delta, lower, upper;  // dense Δ_k, L_k and U_k, for Elimination::kDense alone
  std::vector<double> delta2;               // Δ_2 before it is factored or inverted
  bool delta2_transposed = false;
  std::array<SolvedBlock, 3> kept;
  Combination<double> terms;
};

EliminationWorkspace::EliminationWorkspace() : buffers_(std::make_unique<Buffers>()) {}
EliminationWorkspace::~EliminationWorkspace() = default;
EliminationWorkspace::EliminationWorkspace(EliminationWorkspace&&) noexcept = default;

namespace {

using Buffers = EliminationWorkspace::Buffers;

// Leaves Δ_2, and Δ_2 and Δ_1 inverted, in the buffers; returns Δ_0 (perhaps transposed).
std::vector<double>& eliminate_structured(const BlockSystem& system, double nu_hat, double epsi_hat,
                                          Buffers& b, bool& transposed) {
  auto& e = b.structured;
  e.start(system, nu_hat, epsi_hat);
  while (e.k() >= 1) {
    const int k = e.k();
    if (k == 2) {
      b.delta2 = e.delta();
      b.delta2_transposed = e.transposed();
    }
    e.invert();
    if (k <= 2) {
      b.kept[static_cast<std::size_t>(k)].set_inverse(system.block_size(k), e.delta(),
                                                      e.transposed());
    }
    e.descend();
  }
  transposed = e.transposed();
  return e.delta();
}

// X_k = Δ_k⁻¹ L_k by LU and solve, Δ_{k−1} = D_{k−1} − U_{k−1} X_k by a product.
void dense_step(const BlockSystem& system, int k, double nu_hat, double epsi_hat, Buffers& b) {
  const int n = system.block_size(k), below = system.block_size(k - 1);
  constexpr auto kNo = blas::Op::kNo;
  std::vector<int> pivots;
  blas::factor_lu(n, b.delta.data(), n, pivots);
  system.lower_by_column(k, 1, b.terms);
  b.lower.assign(elements(n, below), 0.0);
  scatter_columns(b.terms, n, b.lower);
  blas::solve_lu(kNo, n, below, b.delta.data(), n, pivots, b.lower.data(), n);
  if (k <= 2) b.kept[static_cast<std::size_t>(k)].set_lu(n, b.delta, std::move(pivots));
  system.upper_by_row(k - 1, 1, b.terms);
  b.upper.assign(elements(below, n), 0.0);
  scatter_rows(b.terms, below, b.upper);
  b.delta.assign(elements(below, below), 0.0);
  add_diagonal_block(system, k - 1, nu_hat, epsi_hat, false, b.delta);
  blas::gemm(kNo, kNo, below, below, n, -1.0, b.upper.data(), below, b.lower.data(), n, 1.0,
             b.delta.data(), below);
}

// The same by LU; never transposed.
std::vector<double>& eliminate_dense(const BlockSystem& system, double nu_hat, double epsi_hat,
                                     Buffers& b) {
  const int top = system.block_size(system.n_xi);
  b.delta.assign(elements(top, top), 0.0);
  add_diagonal_block(system, system.n_xi, nu_hat, epsi_hat, false, b.delta);
  for (int k = system.n_xi; k >= 1; --k) {
    if (k == 2) b.delta2 = b.delta;
    dense_step(system, k, nu_hat, epsi_hat, b);
  }
  b.delta2_transposed = false;
  return b.delta;
}

// ‖r‖/√(unknowns) of block rows 0 … 2 for one source.
double residual_of(const BlockSystem& system, double nu_hat, double epsi_hat,
                   const ThreeBlocks& source, const ThreeBlocks& f,
                   const std::vector<double>& delta2, bool delta2_transposed) {
  double sum = 0, unknowns = 0;
  for (int k = 0; k <= 2; ++k) {
    std::vector<double> r = source[static_cast<std::size_t>(k)];
    for (auto& x : r) x = -x;
    if (k < 2) {
      apply_diagonal_block(system, k, nu_hat, epsi_hat, f[static_cast<std::size_t>(k)], r);
      apply_upper(system, k, f[static_cast<std::size_t>(k + 1)], r);
    } else {
      add_matrix_vector(delta2, system.block_size(2), delta2_transposed, f[2], r);
    }
    if (k > 0) apply_lower(system, k, f[static_cast<std::size_t>(k - 1)], r);
    if (k == 0 && system.pinned) r[0] = f[0][0];
    for (const double x : r) sum += x * x;
    unknowns += static_cast<double>(r.size());
  }
  return std::sqrt(sum / unknowns);
}

// From the three kept blocks to f_0, f_1, f_2 for one source.
ThreeBlocks substitute(const BlockSystem& system, const ThreeBlocks& source,
                       const std::array<SolvedBlock, 3>& kept) {
  // σ_2 = s_2,  σ_k = s_k − U_k Δ_{k+1}⁻¹ σ_{k+1}
  ThreeBlocks sigma = source;
  for (int k = 1; k >= 0; --k) {
    const auto above = static_cast<std::size_t>(k + 1);
    auto correction = sigma[above];
    kept[above].solve(correction);
    for (auto& x : correction) x = -x;
    apply_upper(system, k, correction, sigma[static_cast<std::size_t>(k)]);
  }
  if (system.pinned) sigma[0][0] = 0;
  // f_0 = Δ_0⁻¹ σ_0,  f_k = Δ_k⁻¹ (σ_k − L_k f_{k−1})
  ThreeBlocks f = sigma;
  kept[0].solve(f[0]);
  for (int k = 1; k <= 2; ++k) {
    const auto at = static_cast<std::size_t>(k);
    auto below = f[at - 1];
    for (auto& x : below) x = -x;
    apply_lower(system, k, below, f[at]);
    kept[at].solve(f[at]);
  }
  return f;
}

}  // namespace

EliminationResult eliminate(const BlockSystem& system, double nu_hat, double epsi_hat,
                            Elimination how, EliminationWorkspace& workspace) {
  check(epsi_hat == 0 || system.electric.has_value(), "this system has an electric term");
  auto& b = workspace.buffers();
  bool transposed = false;
  auto& delta0 = how == Elimination::kDense
                     ? eliminate_dense(system, nu_hat, epsi_hat, b)
                     : eliminate_structured(system, nu_hat, epsi_hat, b, transposed);

  EliminationResult result;
  const int n0 = system.block_size(0);
  if (system.pinned) pin_first_row(n0, transposed, delta0);
  std::vector<int> pivots;
  if (!blas::factor_lu(n0, delta0.data(), n0, pivots)) {
    result.singular = true;
    return result;
  }
  b.kept[0].set_lu(n0, delta0, std::move(pivots), transposed);
  for (std::size_t s = 0; s < 2; ++s) {
    result.modes[s] = substitute(system, system.source[s], b.kept);
  }
  result.residual = residual_of(system, nu_hat, epsi_hat, system.source[0], result.modes[0],
                                b.delta2, b.delta2_transposed);
  return result;
}

}  // namespace assay::transport
