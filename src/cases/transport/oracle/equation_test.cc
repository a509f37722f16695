// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/oracle/equation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace assay::cases::transport::oracle {
namespace {

constexpr Real kPi = std::numbers::pi_v<Real>;
constexpr Real kRounding = 1e-17L;

// EXPECT_NEAR compares in double.
void expect_near(Real value, Real expected, Real tolerance) {
  EXPECT_LE(std::abs(value - expected), tolerance) << value << " instead of " << expected;
}

// The closed forms of ξP_k and (1−ξ²)P_k′, which the oracle does not use.
TEST(PitchAngle, QuadratureGivesTheRecurrences) {
  for (const int top : {2, 7, 60}) {
    const PitchAngle xi(top);
    for (int k = 0; k <= top; ++k) {
      const Real below = k / (2.0L * k + 1), above = (k + 1) / (2.0L * k + 1);
      if (k > 0) {
        expect_near(xi.streaming(k - 1, k), below, 1e3L * kRounding);
        expect_near(xi.mirror(k - 1, k), (k + 1) * below, 1e4L * kRounding);
      }
      if (k < top) {
        expect_near(xi.streaming(k + 1, k), above, 1e3L * kRounding);
        expect_near(xi.mirror(k + 1, k), -k * above, 1e4L * kRounding);
      }
      expect_near(xi.scattering(k, k), k * (k + 1) / 2.0L, 1e4L * kRounding * (k + 1));
      if (k >= 2) {
        expect_near(xi.streaming(k - 2, k), 0, 1e3L * kRounding);
        expect_near(xi.scattering(k - 2, k), 0, 1e4L * kRounding * k);
      }
    }
  }
}

// b·∇ of a mode that the grid resolves, where B is constant: ξ b·∇ takes P_0 to P_1.
TEST(Equation, DerivativesOfResolvedModesAreExact) {
  const Surface plain{.nfp = 3, .iota = 0.7, .b_theta = 0.2, .b_zeta = 2, .b = {{0, 0, 1.5}}};
  for (const Grid grid : {Grid{5, 7, 2}, Grid{6, 8, 3}}) {
    const Equation equation(plain, grid, 1e-2, 0);
    const Real iota = 0.7, b_theta = 0.2, jacobian = (2 + iota * b_theta) / (1.5L * 1.5L);
    for (int m = -2; m <= 2; ++m) {
      for (int n = -2; n <= 2; ++n) {
        for (int p = 1; p < grid.points(); ++p) {
          const auto phase = [&](int point) {
            const int i = point % grid.n_theta, j = point / grid.n_theta;
            return 2 * kPi *
                   (m * i / static_cast<Real>(grid.n_theta) +
                    n * j / static_cast<Real>(grid.n_zeta));
          };
          std::vector<Equation::Entry> entries;
          equation.row(1, 0, p, entries);
          Real sum = 0;
          for (const auto& e : entries) sum += e.value * std::sin(phase(e.column));
          const Real slope = (iota * m + 3 * n) / (jacobian * 1.5L) * std::cos(phase(p));
          expect_near(sum, slope, 1e2L * kRounding);
        }
      }
    }
  }
}

// A block of a row is what the engine's operators are documented to be; here on one point, from
// the numbers of the surface by hand.
TEST(Equation, RowsHaveTheTermsOfTheEquation) {
  const auto& s = surface("example");
  const Grid grid{7, 9, 6};
  const double nu = 1e-2, er = 1e-3;
  const Equation equation(s, grid, nu, er);
  const int i = 2, j = 3, p = i + j * grid.n_theta, k = 3;
  const double theta = 2 * std::numbers::pi * i / 7, zeta = 2 * std::numbers::pi * j / (5 * 9);
  double b = 0, slope = 0;
  for (const auto& mode : s.b) {
    const double phase = mode.m * theta + 5 * mode.n * zeta;
    b += mode.b * std::cos(phase);
    slope -= mode.b * (0.85 * mode.m + 5 * mode.n) * std::sin(phase);
  }
  const double jacobian = (1 + 0.85 * 0.05) / (b * b), g = slope / jacobian / (2 * b * b);
  const auto at = [&](int l, int from, int column) {
    std::vector<Equation::Entry> entries;
    equation.row(l, from, p, entries);
    Real sum = 0;
    for (const auto& e : entries) sum += e.column == column ? e.value : 0;
    return static_cast<double>(sum);
  };
  EXPECT_NEAR(at(k, k - 1, p), k * (k - 1) / (2 * k - 1.0) * g, 1e-15);
  EXPECT_NEAR(at(k, k + 1, p), -(k + 1) * (k + 2) / (2 * k + 3.0) * g, 1e-15);
  EXPECT_NEAR(at(k, k, p), 0.5 * nu * k * (k + 1), 1e-15);
  // The neighbour along θ: D_θ between points one apart is −½/sin(π/7).
  const double d = -0.5 / std::sin(std::numbers::pi / 7);
  EXPECT_NEAR(at(k, k - 1, p - 1), k / (2 * k - 1.0) * 0.85 / (jacobian * b) * d, 1e-14);
  double mean_b2 = 0, sum = 0;
  for (int q = 0; q < grid.points(); ++q) {
    double other = 0;
    for (const auto& mode : s.b) {
      other += mode.b *
               std::cos(2 * std::numbers::pi * (mode.m * (q % 7) / 7.0 + mode.n * (q / 7) / 9.0));
    }
    sum += 1 / (other * other);
  }
  mean_b2 = grid.points() / sum;
  EXPECT_NEAR(at(k, k, p - 1), -er * 1 / (jacobian * mean_b2) * d, 1e-15);
}

}  // namespace
}  // namespace assay::cases::transport::oracle
