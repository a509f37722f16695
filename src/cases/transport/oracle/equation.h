// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The drift-kinetic equation on a grid, row by row, from the continuous operator
//
//   A f = ξ b·∇f + ½(∇·b)(1−ξ²) ∂f/∂ξ − (Ê/⟨B²⟩) B×∇ψ·∇f − ½ν̂ ∂/∂ξ (1−ξ²) ∂f/∂ξ
//
// with f = Σ f_k(θ,ζ) P_k(ξ): projected on each P_l by quadrature in ξ, collocated in θ and ζ with
// the derivative of the trigonometric interpolant. f_0 is 0 at θ = ζ = 0, in place of the equation
// of P_0 at that point.

#include <array>
#include <vector>

#include "cases/transport/oracle/pitch_angle.h"

namespace assay::cases::transport::oracle {

struct Grid {
  int n_theta = 0, n_zeta = 0, n_xi = 0;  // n_ξ is the highest k
  int points() const { return n_theta * n_zeta; }
};

class Equation {
 public:
  struct Entry {
    int column;
    Real value;
  };
  using Vector = std::vector<Real>;  // [k][point], points with θ fastest

  Equation(const Surface& surface, const Grid& grid, double nu_hat, double er_hat);

  int top() const { return grid_.n_xi; }
  int points() const { return grid_.points(); }

  // Row `point` of the block that takes f_k into the equation of P_l, |l − k| ≤ 1.
  void row(int l, int k, int point, std::vector<Entry>& entries) const;

  // The drives: of radial drift (0), of the parallel field (1).
  const Vector& source(int j) const { return source_[static_cast<std::size_t>(j)]; }
  // source(j) − A f.
  Vector residual(int j, const Vector& f) const;

  // ⟨∫ drive_i f dξ⟩: 0 is the radial flux, 1 the parallel current.
  Real flux(int i, const Vector& f) const;
  // D11, D31, D13, D33 of the solutions for both sources, in DKES's normalisation.
  std::array<double, 4> coefficients(const std::array<Vector, 2>& f) const;

 private:
  // Σ over modes of the derivative of the trigonometric interpolant through n points of a period.
  static std::vector<Real> derivative(int n, Real period);

  Grid grid_;
  Real nu_hat_, psi_prime_, b0_ = 0;
  std::vector<std::array<Real, 3>> streaming_, mirror_;  // [l][k − l + 1]
  std::vector<Real> scattering_;
  std::vector<Real> d_theta_, d_zeta_;
  // By point: b·∇ and the E×B drift as factors of ∂_θ and ∂_ζ, and ½∇·b.
  std::vector<std::array<Real, 2>> along_, across_;
  std::vector<Real> half_divergence_;
  std::array<Vector, 2> source_, functional_;
};

}  // namespace assay::cases::transport::oracle
