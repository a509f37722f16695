// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "transport/kernels/lu.h"
#include "transport/system/block.h"
#include "transport/system/operators.h"

namespace assay::transport {

// All blocks of a vector of the system: f_0 … f_{nξ}.
using Modes = std::vector<std::vector<double>>;

// A vector of zeros; with the given three blocks, and zeros above.
Modes zero_modes(const BlockSystem& system);
Modes from_three_blocks(const BlockSystem& system, const ThreeBlocks& blocks);
double dot(const Modes& a, const Modes& b);

// y = A x, entry by entry, in f64; the pinned row included.
Modes apply_system(const BlockSystem& system, double nu_hat, double epsi_hat, const Modes& x);

// x ← A⁻¹ x or A⁻ᵀ x by the blocks of an elimination: `solve_block(k, y)` is y ← Δ_k⁻¹ y, or Δ_k⁻ᵀ.
// Vectors may stand side by side.
void solve_by_blocks(const BlockSystem& system, Modes& x, bool transposed,
                     const std::function<void(int k, std::vector<double>& y)>& solve_block);

// The whole system factored, every block kept. Solves with any right side, where the elimination of
// eliminate.h knows only sources in k = 0, 1, 2. Blocks above `highest_double` are eliminated and
// kept in f32: 4N² bytes each instead of 8N².
class FactoredSystem {
 public:
  FactoredSystem(const BlockSystem& system, double nu_hat, double epsi_hat, int highest_double);
  // The same with every block in f64.
  FactoredSystem(const BlockSystem& system, double nu_hat, double epsi_hat)
      : FactoredSystem(system, nu_hat, epsi_hat, system.n_xi) {}
  // x ← A⁻¹ x.
  void solve(Modes& x) const { sweep(x, false); }
  // x ← A⁻ᵀ x.
  void solve_transposed(Modes& x) const { sweep(x, true); }
  bool singular() const { return singular_; }

 private:
  // Δ_k⁻¹, k ≥ 1, in one of the two precisions.
  struct Inverse {
    std::vector<double> f64;
    std::vector<float> f32;
    bool transposed = false;
  };
  void sweep(Modes& x, bool transposed) const;
  void multiply_inverse(int k, bool transposed, std::vector<double>& x) const;

  const BlockSystem* system_;
  std::vector<Inverse> inverse_;  // entry 0 is empty
  std::vector<double> lu_;        // of Δ_0, pivoted, in f64
  LuFactors factors_;
  bool lu_transposed_ = false, singular_ = false;
};

}  // namespace assay::transport
