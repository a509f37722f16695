// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/solver/eliminate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/attend.h"
#include "base/error.h"
#include "kernels/blas/blas.h"
#include "transport/kernels/lu.h"
#include "transport/solver/structured.h"
#include "transport/system/block.h"

namespace assay::transport {

struct Workspace::Buffers {
  StructuredElimination<double> structured;
  std::vector<double> spare;  // an inverse on its way to where it is kept
  // Elimination::kDense: Δ_k, U_{k−1} Δ_k⁻¹, and V of L and U into even and odd rows, of which only
  // those that differ are there: one in the plain system.
  std::vector<double> delta, upper;
  std::array<FullStreaming, 4> streaming;
  LuFactors lu;
  std::vector<double> delta2;  // Δ_2 before it is factored or inverted
  bool delta2_transposed = false;
  std::vector<SolvedBlock> kept;  // those above the first three only where they are asked for
};

Workspace::Workspace() : buffers_(std::make_unique<Buffers>()) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;

namespace {

using Buffers = Workspace::Buffers;

// Rounds of f ← f + A⁻¹(s − A f) over the three kept block rows. They cost a few N² and take back
// what the explicit inverses of Δ_1 and Δ_2, and Δ_0 made with them, have lost.
constexpr int kCorrections = 2;
// A round shrinks the error by the factor by which its correction is smaller than f: after one
// below √ε a further one would change nothing.
constexpr double kEnough = 1e-8;

// Leaves Δ_2, and the blocks to be kept inverted, in the buffers; returns Δ_0 (perhaps transposed).
std::vector<double>& eliminate_structured(const BlockSystem& system, double nu_hat, double epsi_hat,
                                          Buffers& b, bool& transposed) {
  auto& e = b.structured;
  e.start(system, nu_hat, epsi_hat);
  while (e.k() >= 1) {
    attend();
    const int k = e.k();
    if (k == 2) {
      b.delta2 = e.delta();
      b.delta2_transposed = e.transposed();
    }
    e.invert();
    const bool turned = e.transposed();
    const bool keep = static_cast<std::size_t>(k) < b.kept.size();
    e.descend(keep ? &b.spare : nullptr);
    if (keep)
      b.kept[static_cast<std::size_t>(k)].set_inverse(system.block_size(k), b.spare, turned);
  }
  transposed = e.transposed();
  return e.delta();
}

// The full matrix of these operators, made when it is first asked for.
FullStreaming& streaming_matrix(const Streaming& operators, Buffers& b) {
  const auto it = std::ranges::find_if(b.streaming, [&](const FullStreaming& s) {
    return s.operators() == &operators || s.operators() == nullptr;
  });
  if (it->operators() == nullptr) it->set(&operators);
  return *it;
}

// LU of Δ_k, U_{k−1} Δ_k⁻¹ by an N-row solve, Δ_{k−1} = D_{k−1} − U_{k−1} Δ_k⁻¹ L_k by a product.
// Solving from the right leaves all matrices as tall as a block, which is what BLAS likes best.
void dense_step(const BlockSystem& system, int k, double nu_hat, double epsi_hat, Buffers& b) {
  const int n = system.block_size(k), below = system.block_size(k - 1);
  const auto upper = system.upper_at(k - 1), lower = system.lower_at(k);
  factor_lu(n, b.delta.data(), b.lu);
  b.upper = streaming_matrix(upper.operators, b).shifted(upper.shift);
  solve_lu_from_right(b.delta.data(), b.lu, below, b.upper.data());
  if (static_cast<std::size_t>(k) < b.kept.size()) {
    b.kept[static_cast<std::size_t>(k)].set_lu(n, b.delta, b.lu.pivots);
  }
  b.delta.resize(elements(below, below));
  blas::gemm_columns(blas::Op::kNone, blas::Op::kNone, below, below, n, -upper.scale * lower.scale,
                     b.upper.data(), below,
                     streaming_matrix(lower.operators, b).shifted(lower.shift).data(), n, 0.0,
                     b.delta.data(), below);
  add_diagonal_block(system, k - 1, nu_hat, epsi_hat, false, b.delta);
}

// The same by LU; never transposed.
std::vector<double>& eliminate_dense(const BlockSystem& system, double nu_hat, double epsi_hat,
                                     Buffers& b) {
  const int top = system.block_size(system.n_xi);
  for (auto& s : b.streaming) s.set(nullptr);
  b.delta.assign(elements(top, top), 0.0);
  add_diagonal_block(system, system.n_xi, nu_hat, epsi_hat, false, b.delta);
  for (int k = system.n_xi; k >= 1; --k) {
    attend();
    if (k == 2) b.delta2 = b.delta;
    dense_step(system, k, nu_hat, epsi_hat, b);
  }
  b.delta2_transposed = false;
  return b.delta;
}

// Both sources side by side, see block.h.
constexpr std::size_t kSources = 2;

ThreeBlocks side_by_side(const std::array<ThreeBlocks, kSources>& apart) {
  ThreeBlocks all;
  for (std::size_t k = 0; k < 3; ++k) {
    all[k].resize(kSources * apart[0][k].size());
    for (std::size_t i = 0; i < all[k].size(); ++i) {
      all[k][i] = apart[i % kSources][k][i / kSources];
    }
  }
  return all;
}

std::array<ThreeBlocks, kSources> taken_apart(const ThreeBlocks& all) {
  std::array<ThreeBlocks, kSources> apart;
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t i = 0; i < all[k].size(); ++i) apart[i % kSources][k].push_back(all[k][i]);
  }
  return apart;
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
  if (system.pinned) std::copy_n(minus_f[0].begin(), kSources, r[0].begin());
  return r;
}

// Lengths of the vectors that stand side by side.
std::array<double, kSources> norms(const std::vector<double>& x) {
  std::array<double, kSources> sum = {};
  for (std::size_t i = 0; i < x.size(); ++i) sum[i % kSources] += x[i] * x[i];
  for (auto& s : sum) s = std::sqrt(s);
  return sum;
}

// ‖r‖/√(unknowns) for s1.
double residual_of_s1(const ThreeBlocks& r) {
  double sum = 0, unknowns = 0;
  for (const auto& block : r) {
    const double length = norms(block)[0];
    sum += length * length;
    unknowns += static_cast<double>(block.size() / kSources);
  }
  return std::sqrt(sum / unknowns);
}

// From the three kept blocks to f_0, f_1, f_2.
ThreeBlocks substitute(const BlockSystem& system, const ThreeBlocks& source,
                       const std::vector<SolvedBlock>& kept) {
  // σ_2 = s_2,  σ_k = s_k − U_k Δ_{k+1}⁻¹ σ_{k+1}
  ThreeBlocks sigma = source;
  for (int k = 1; k >= 0; --k) {
    const auto above = static_cast<std::size_t>(k + 1);
    auto correction = sigma[above];
    kept[above].solve(correction);
    apply_upper(system, k, -1, correction, sigma[static_cast<std::size_t>(k)]);
  }
  if (system.pinned) std::fill_n(sigma[0].begin(), kSources, 0.0);
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

// f ← f + correction. Whether a further one would change nothing.
bool correct(const ThreeBlocks& correction, ThreeBlocks& f) {
  bool enough = true;
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t i = 0; i < f[k].size(); ++i) f[k][i] += correction[k][i];
    const auto change = norms(correction[k]), length = norms(f[k]);
    for (std::size_t s = 0; s < kSources; ++s) {
      enough = enough && !(change[s] > kEnough * length[s]);
    }
  }
  return enough;
}

}  // namespace

EliminationResult eliminate(const BlockSystem& system, double nu_hat, double epsi_hat,
                            Elimination how, bool whole, Workspace& workspace) {
  check(epsi_hat == 0 || system.electric.has_value(), "this system has an electric term");
  auto& b = workspace.buffers();
  b.kept.resize(whole ? static_cast<std::size_t>(system.n_xi) + 1 : 3);
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
  const auto source = side_by_side(system.source);
  auto f = substitute(system, source, b.kept);
  auto r = residual_of(system, nu_hat, epsi_hat, source, f, b);
  bool enough = false;
  for (int i = 0; i < kCorrections && !enough; ++i) {
    enough = correct(substitute(system, r, b.kept), f);
    r = residual_of(system, nu_hat, epsi_hat, source, f, b);
  }
  result.residual = residual_of_s1(r);
  if (whole) {
    Modes all(f.begin(), f.end());
    extend_upwards(system, b.kept, all);
    result.whole = refine(system, nu_hat, epsi_hat, b.kept, all);
    if (result.whole->corrections > 0) std::copy_n(all.begin(), 3, f.begin());
  }
  result.modes = taken_apart(f);
  return result;
}

}  // namespace assay::transport
