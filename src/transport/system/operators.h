// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The block-tridiagonal system of a surface: what a case (ν̂, Ê) is solved with.
//
//   L_k f_{k−1} + D_k f_k + U_k f_{k+1} = s_k,  k = 0 … n_ξ
//   L_k = k/(2k−1)·(V + (k−1) g)               V = (B^θ/B) ∂_θ + (B^ζ/B) ∂_ζ  (b·∇)
//   U_k = (k+1)/(2k+3)·(V_U − (k+c) g)         g = G/(2B²)  (the mirror term)
//   D_k = ½ ν̂ k(k+1) + Ê E                     E = (−B_ζ ∂_θ + B_θ ∂_ζ)/(J⟨B²⟩)
//
// V and E have n_θ + n_ζ − 1 entries in a row and never become dense matrices. Three choices of
// unknowns share this one form:
//   plain     values on the grid; V_U = V, c = 2; f_0 is pinned to 0 at the point θ = ζ = 0
//   parity    Ê = 0 and cosine-only B: blocks of even k hold odd functions, blocks of odd k even
//             ones, each half as long; nothing to pin
//   adjoint   unknowns √J·f, and U_k = −((2k+1)/(2k+3)) L_{k+1}ᵀ (V_U = −Vᵀ, c = 0): spectrally
//             equivalent, Onsager symmetric to rounding; goes with either of the above

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "transport/kernels/kernels.h"
#include "transport/surface/geometry.h"
#include "transport/system/unknowns.h"

namespace assay::transport {

// A sparse matrix V with a "diagonal" g beside it, as sums for each row and for each column.
struct Streaming {
  // An entry of g, and the place of the weight that stands for the same entry of V.
  struct Mirror {
    std::int32_t source = 0, output = 0;
    std::int64_t place = 0;
    double value = 0;
  };
  struct Terms {
    Combination<double> v;
    std::vector<Mirror> mirror;
  };
  Terms by_row;     // outputs: rows; sources: columns
  Terms by_column;  // outputs: columns; sources: rows
};

// scale·(V + shift·g) as terms in T.
template <typename T>
void weigh(const Streaming::Terms& terms, double scale, double shift, Combination<T>& out);

// A right-hand side or a functional has three blocks that are not zero: k = 0, 1, 2.
using ThreeBlocks = std::array<std::vector<double>, 3>;

struct BlockSystem {
  int n_xi = 0;
  std::array<int, 2> size = {0, 0};  // unknowns of a block, by k % 2
  // The operators into block row k, by k % 2; those that are equal are one.
  std::array<std::shared_ptr<const Streaming>, 2> lower, upper;
  int upper_shift = 2;                          // c above
  std::optional<Combination<double>> electric;  // E by row, for Ê = 1; absent with parity
  bool pinned = false;                          // row 0 of block 0 says f_0(0,0) = 0
  bool symmetric = false;  // with Ê = 0 every Δ_k, k ≥ 1, is symmetric, > 0

  std::array<ThreeBlocks, 2> source;  // s1, s3
  std::array<ThreeBlocks, 2>
      functional;  // c1·f = ⟨−(4/3) w f_0 − (2/15) w f_2⟩, c3·f = (2/3)⟨B f_1⟩

  std::array<Unknowns, 2> unknowns;  // what the numbers of a block mean, by k % 2
  // ⟨f²⟩ = Σ weight·u² for a function with the unknowns u, by k % 2.
  std::array<std::vector<double>, 2> weight;
  // The unknown at the mirror image (−θ,−ζ) of each; empty with sines in B, and with parity.
  std::vector<int> mirror;
  // Root mean square lengths of the rows of V, g and E: how much a row adds up.
  struct RowLength {
    double v = 0, g = 0, e = 0;
  } row_length;

  int block_size(int k) const { return size[static_cast<std::size_t>(k % 2)]; }
  // L_k (k ≥ 1) and U_k (k < n_ξ) are scale·(V + shift·g) of these.
  struct Scaled {
    const Streaming& operators;
    double scale, shift;
  };
  Scaled lower_at(int k) const {
    return {*lower[static_cast<std::size_t>(k % 2)], k / (2.0 * k - 1), k - 1.0};
  }
  Scaled upper_at(int k) const {
    return {*upper[static_cast<std::size_t>(k % 2)], (k + 1) / (2.0 * k + 3),
            -static_cast<double>(k + upper_shift)};
  }
  // factor·L_k by column and factor·U_k by row, as terms.
  template <typename T>
  void lower_by_column(int k, double factor, Combination<T>& out) const {
    const auto at = lower_at(k);
    weigh(at.operators.by_column, factor * at.scale, at.shift, out);
  }
  template <typename T>
  void upper_by_row(int k, double factor, Combination<T>& out) const {
    const auto at = upper_at(k);
    weigh(at.operators.by_row, factor * at.scale, at.shift, out);
  }
  // D_k's scalar part.
  static double collisions(double nu_hat, int k) { return 0.5 * nu_hat * k * (k + 1); }
};

BlockSystem plain_system(const Geometry& geometry);
// Needs a cosine-only B.
BlockSystem parity_system(const Geometry& geometry);
// The adjoint-consistent form of either of the above.
BlockSystem adjoint_system(const Geometry& geometry, bool parity);

}  // namespace assay::transport
