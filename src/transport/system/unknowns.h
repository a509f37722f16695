// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "transport/surface/geometry.h"

namespace assay::transport {

// The point at (−θ,−ζ).
int mirror_point(const Grid& grid, int point);

// Which numbers stand for a function on the grid. A function f has the unknowns u = R f and is
// recovered as f = X u; R X = 1, and each point belongs to at most one unknown. A matrix M between
// functions becomes R M X, a functional c·f becomes (Xᵀc)·u.
//
//   points   every value
//   even     functions with f(−θ,−ζ) = f(θ,ζ): one unknown for a pair of points, scaled by √2, so
//            that lengths stay; one for each point that is its own mirror image
//   odd      functions with f(−θ,−ζ) = −f(θ,ζ): one for each pair
struct Unknowns {
  struct OfPoint {
    int unknown = -1;            // −1: the function is zero here
    double restrict_weight = 0;  // entry of R
    double expand_weight = 0;    // entry of X
  };
  std::vector<OfPoint> of_point;
  // For each unknown, which others a derivative in θ (in ζ) connects it to: those of equal line.
  std::vector<int> theta_line, zeta_line;

  static Unknowns points(const Geometry& geometry);
  static Unknowns even(const Geometry& geometry);
  static Unknowns odd(const Geometry& geometry);
  // The same functions multiplied by √J: u = R √J f.
  Unknowns weighted(const Geometry& geometry) const;

  int count() const { return static_cast<int>(theta_line.size()); }
  std::vector<double> restrict_field(const Field& f) const;       // R f
  std::vector<double> restrict_functional(const Field& c) const;  // Xᵀ c
  Field expand(const std::vector<double>& u) const;               // X u
};

}  // namespace assay::transport
