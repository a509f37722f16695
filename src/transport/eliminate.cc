// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/eliminate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "transport/blas.h"
#include "transport/block.h"
#include "transport/lu.h"
#include "transport/structured.h"

namespace assay::transport {

struct EliminationWorkspace::Buffers {
  StructuredElimination<double> structured;
  std::vector<double> spare;  // an inverse on its way to where it is kept
  // Elimination::kDense: Δ_k, U_{k−1} Δ_k⁻¹, and P L_k. The last is all zeros between steps, so
  // that only its entries need to be written.
  std::vector<double> delta, upper, lower;
  LuFactors lu;
  std::vector<double> delta2;  // Δ_2 before it is factored or inverted
  bool delta2_transposed = false;
  std::array<SolvedBlock, 3> kept;
  Combination<double> terms;
};

EliminationWorkspace::EliminationWorkspace() : buffers_(std::make_unique<Buffers>()) {}
EliminationWorkspace::~EliminationWorkspace() = default;
EliminationWorkspace::EliminationWorkspace(EliminationWorkspace&&) noexcept = default;

namespace {

using Buffers = EliminationWorkspace::Buffers;

// Rounds of f ← f + A⁻¹(s − A f) over the three kept block rows. They cost a few N² and take back
// what the explicit inverses of Δ_1 and Δ_2, and Δ_0 made with them, have lost.
constexpr int kCorrections = 2;
// A round shrinks the error by the factor by which its correction is smaller than f: after one
// below √ε a further one would change nothing.
constexpr double kEnough = 1e-8;

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
    const bool turned = e.transposed();
    e.descend(k <= 2 ? &b.spare : nullptr);
    if (k <= 2) {
      b.kept[static_cast<std::size_t>(k)].set_inverse(system.block_size(k), b.spare, turned);
    }
  }
  transposed = e.transposed();
  return e.delta();
}

// LU of Δ_k, U_{k−1} Δ_k⁻¹ by an N-row solve, Δ_{k−1} = D_{k−1} − U_{k−1} Δ_k⁻¹ L_k by a product.
// Solving from the right leaves all matrices as tall as a block, which is what BLAS likes best, and
// the row exchanges of the LU fall on L_k, where they are only another place to write an entry.
void dense_step(const BlockSystem& system, int k, double nu_hat, double epsi_hat, Buffers& b) {
  const int n = system.block_size(k), below = system.block_size(k - 1);
  constexpr auto kNo = blas::Op::kNo;
  factor_lu(n, b.delta.data(), b.lu);
  system.upper_by_row(k - 1, 1, b.terms);
  b.upper.assign(elements(below, n), 0.0);
  scatter_rows(b.terms, {}, b.upper);
  solve_lu_from_right(b.delta.data(), b.lu, below, b.upper.data());
  if (k <= 2) b.kept[static_cast<std::size_t>(k)].set_lu(n, b.delta, b.lu.pivots);
  const auto place = b.lu.places();
  system.lower_by_row(k, 1, b.terms);
  b.lower.assign(elements(n, below), 0.0);
  scatter_rows(b.terms, place, b.lower);
  b.delta.resize(elements(below, below));
  blas::gemm(kNo, kNo, below, below, n, -1.0, b.upper.data(), below, b.lower.data(), n, 0.0,
             b.delta.data(), below);
  add_diagonal_block(system, k - 1, nu_hat, epsi_hat, false, b.delta);
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

// s − A f over the block rows 0 … 2, with Δ_2 in place of D_2 in row 2.
ThreeBlocks residual_of(const BlockSystem& system, double nu_hat, double epsi_hat,
                        const ThreeBlocks& source, const ThreeBlocks& f, const Buffers& b) {
  ThreeBlocks minus_f = f, r = source;
  for (auto& block : minus_f) {
    for (auto& x : block) x = -x;
  }
  for (int k = 0; k <= 1; ++k) {
    const auto at = static_cast<std::size_t>(k);
    apply_diagonal_block(system, k, nu_hat, epsi_hat, minus_f[at], r[at]);
    apply_upper(system, k, 1, minus_f[at + 1], r[at]);
    apply_lower(system, k + 1, 1, minus_f[at], r[at + 1]);
  }
  add_matrix_vector(b.delta2, system.block_size(2), b.delta2_transposed, minus_f[2], r[2]);
  if (system.pinned) r[0][0] = -f[0][0];
  return r;
}

double root_mean_square(const ThreeBlocks& r) {
  double sum = 0, unknowns = 0;
  for (const auto& block : r) {
    for (const double x : block) sum += x * x;
    unknowns += static_cast<double>(block.size());
  }
  return std::sqrt(sum / unknowns);
}

double norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum);
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
    apply_upper(system, k, -1, correction, sigma[static_cast<std::size_t>(k)]);
  }
  if (system.pinned) sigma[0][0] = 0;
  // f_0 = Δ_0⁻¹ σ_0,  f_k = Δ_k⁻¹ (σ_k − L_k f_{k−1})
  ThreeBlocks f = sigma;
  kept[0].solve(f[0]);
  for (int k = 1; k <= 2; ++k) {
    const auto at = static_cast<std::size_t>(k);
    apply_lower(system, k, -1, f[at - 1], f[at]);
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
  if (!factor_lu(n0, delta0.data(), b.lu)) {
    result.singular = true;
    return result;
  }
  b.kept[0].set_lu(n0, delta0, b.lu.pivots, transposed);
  for (std::size_t s = 0; s < 2; ++s) {
    auto& f = result.modes[s];
    f = substitute(system, system.source[s], b.kept);
    auto r = residual_of(system, nu_hat, epsi_hat, system.source[s], f, b);
    bool enough = false;
    for (int i = 0; i < kCorrections && !enough; ++i) {
      const auto correction = substitute(system, r, b.kept);
      enough = true;
      for (std::size_t k = 0; k < 3; ++k) {
        for (std::size_t j = 0; j < f[k].size(); ++j) f[k][j] += correction[k][j];
        enough = enough && !(norm(correction[k]) > kEnough * norm(f[k]));
      }
      r = residual_of(system, nu_hat, epsi_hat, system.source[s], f, b);
    }
    if (s == 0) result.residual = root_mean_square(r);
  }
  return result;
}

}  // namespace assay::transport
