// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The solution of the whole system, all n_ξ+1 blocks for both sources, and how good it is.
//
// A functional c·f of a solution that leaves the residual r = s − A f is wrong by λ·r, Aᵀλ = c. The
// adjoint costs nothing here: but for aliasing, A is its own adjoint with the signs of odd k turned
// (and of Ê, which a mirror image of the surface turns back), so that with M = 2J/((2k+1)ΣJ)
//
//   Ê = 0:            λ_1 =  M (−1)^k f_1      λ_3 = −M (−1)^k f_3
//   cosine-only B:    λ_1 = −M R f_1           λ_3 =  M R f_3        (R f)(θ,ζ) = f(−θ,−ζ)
//
// and with sines and a field |λ| ≤ M|f| has to do. What aliasing makes of λ is seen where Onsager's
// symmetry is broken: the share δ by which D31 and −D13 differ leaves δ|λ||r| beside |λ·r|, which
// may be small by chance.

#include <array>
#include <span>
#include <vector>

#include "transport/solver/factored.h"
#include "transport/system/block.h"

namespace assay::transport {

struct Assessment {
  // ‖s − A f‖ over the length of what was added up to it; the larger of the two sources.
  double residual = 0;
  // How wrong c_i·f_j may be, [functional][source]: by the residual, and by the rounding of the
  // system itself, which no refinement mends.
  double by_residual[2][2] = {}, by_rounding[2][2] = {};
  double most_by_residual[2][2] = {};  // |λ_i||r_j|: what the first would be at most
  // Share of the highest Legendre modes (a tenth of them, at least two) in ⟨f²⟩, for s1 and s3.
  std::array<double, 2> last_modes = {};
  Modes r;  // s − A f, both sources side by side
};

// Both sources side by side: [k][source + 2·unknown].
Modes side_by_side(const std::array<Modes, 2>& apart);

// f_3 … f_nξ from f_2, by the blocks that the elimination has kept.
void extend_upwards(const BlockSystem& system, const std::vector<SolvedBlock>& kept, Modes& f);

Assessment assess(const BlockSystem& system, double nu_hat, double epsi_hat, const Modes& f);

// What an assessment is made of: sums over the unknowns of one block, for s1 and s3.
struct BlockSums {
  double square[2] = {};      // f²
  double rest[2] = {};        // r²
  double terms[2] = {};       // (what was added up to r)²
  double adjoint[2] = {};     // λ²
  double energy[2] = {};      // ⟨f²⟩(2k+1)
  double product[2][2] = {};  // λ_i r_j
};
// The assessment without r from the sums of all blocks, wherever those were made.
Assessment assessment_of(const BlockSystem& system, double nu_hat, double epsi_hat,
                         std::span<const BlockSums> blocks);
// Whether the adjoint of this system is that of the mirror image.
bool is_mirrored(const BlockSystem& system, double epsi_hat);

// The largest of the four errors by the residual, relative to its coefficient c_i·f_j (to a
// thousandth of what Schwarz's inequality allows, where that is more).
double worst_error(const BlockSystem& system, const Modes& f, const Assessment& assessment);
// The same from values c_i·f_j, [functional][source].
double worst_error(const double (&value)[2][2], const Assessment& assessment);
// c_i·f_j of f_0, f_1, f_2 with both sources side by side.
double value_of(const ThreeBlocks& functional, std::span<const std::vector<double>> f,
                std::size_t source);

struct Refined {
  Assessment assessment;
  int corrections = 0;
  double worst = 0;  // worst_error() at the end
};
// When refinement ends.
inline constexpr int kMostCorrections = 8;
// A coefficient this good is not refined: the next digits are those of the operators' rounding.
inline constexpr double kGoodEnough = 1e-10;
// A correction that takes away less than this of the error is the last.
inline constexpr double kWorthIt = 0.5;
// Corrects f on the whole system, f ← f + A⁻¹(s − A f), until the residual makes no difference.
Refined refine(const BlockSystem& system, double nu_hat, double epsi_hat,
               const std::vector<SolvedBlock>& kept, Modes& f);

}  // namespace assay::transport
