// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The fields of a surface on the grid of one field period.
//
// Points: θ_i = 2πi/n_θ, ζ_j = 2πj/(nfp·n_ζ), row r = i + j·n_θ (θ fastest), N = n_θ·n_ζ of them.

#include <cstddef>
#include <vector>

#include "transport/surface/surface.h"

namespace assay::transport {

// n_xi is the highest Legendre index: n_xi + 1 modes.
struct Grid {
  int n_theta = 0, n_zeta = 0, n_xi = 0;

  int points() const { return n_theta * n_zeta; }
  // Of an even number of points, the highest mode has a derivative of zero everywhere.
  bool has_odd_angles() const { return n_theta % 2 == 1 && n_zeta % 2 == 1; }
  bool operator==(const Grid&) const = default;
};

// Throws UserError: n_theta, n_zeta ≥ 3, n_xi ≥ 2, and at most 2^15 points (a block would take
// 8 GiB), n_xi ≤ 10000.
void validate(const Grid& grid);

using Field = std::vector<double>;  // one value for each point

struct Geometry {
  Grid grid;
  int nfp = 1;
  double iota = 0;                // of the surface; in VMEC angles ⟨B^θ⟩/⟨B^ζ⟩
  double psi_prime = 1;           // [T·m]
  double b0 = 1;                  // [T]
  Field b, db_dtheta, db_dzeta;   // |B| and its derivatives, from the series [T]
  Field jacobian;                 // of (ψ, θ, ζ), of one sign [m/T]
  Field b_sub_theta, b_sub_zeta;  // covariant [T·m]
  Field b_sup_theta, b_sup_zeta;  // contravariant [T/m]
  Field drift;                    // w = (B_θ ∂_ζB − B_ζ ∂_θB)/(J B³)
  Field gradient;                 // G = B^θ ∂_θB + B^ζ ∂_ζB
  double mean_b2 = 0;             // ⟨B²⟩ [T²]
  double jacobian_sum = 0;
  bool cosine_only = true;  // every field has the parity of a cosine-only B

  std::size_t points() const { return b.size(); }
  // ⟨a⟩ = Σ J a / Σ J.
  double average(const Field& a) const;
};

// A series at the points of a grid.
Field evaluate_on(const Grid& grid, const Series& series, int nfp);

// Evaluates the series on the grid. Throws UserError naming the surface where B is not positive or
// the Jacobian vanishes or changes its sign.
Geometry make_geometry(const Surface& surface, const Grid& grid);

// The derivative matrix of trigonometric interpolation at n points of period P, row-major n×n.
std::vector<double> derivative_matrix(int n, double period);

// The smallest |ι·m + n·nfp| over modes (m, n) ≠ (0, 0) that the grid resolves, and that mode.
struct SmallDivisor {
  int m = 0, n = 0;
  double value = 0;
};
SmallDivisor smallest_divisor(const Geometry& geometry);

}  // namespace assay::transport
