// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// What must hold without any other code: exact solutions, symmetries, identities and limits.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "transport/solve.h"
#include "transport/surface/surface_text.h"

namespace assay::transport {
namespace {

using std::numbers::pi;

const std::vector<Method> kGeneral = {Method::kDense, Method::kStructured, Method::kMixed};

Solution solve_er(const Surface& surface, const Grid& grid, double nu_hat, double er_hat,
                  Method method = Method::kAuto, bool adjoint = false) {
  const auto prepared = prepare(surface, grid, {.adjoint_consistent = adjoint});
  return solve(prepared, case_of_er(nu_hat, er_hat, surface.psi_prime), {.method = method});
}

// Without variation of B there is no drift and no mirror: s1 = 0, and f3 = B P_1/ν̂ solves the
// equation in every discretisation, so only the rounding of a few operations is left.
TEST(Transport, AConstantFieldHasOnlyTheSpitzerConductivity) {
  Surface s = builtin_surface("sample_dkes");
  s.b = {{0, 0, 2.4}};
  for (const Method method : kGeneral) {
    for (const double er : {0.0, 1e-3, -0.5}) {
      for (const double nu : {1e-4, 1e-1}) {
        const auto d = solve_er(s, {5, 7, 6}, nu, er, method).d;
        EXPECT_EQ(d.d11, 0);
        EXPECT_EQ(d.d31, 0);
        // f3 has rounding noise of 1e-16/ν̂² in k = 0, which D13 does not see since w = 0.
        EXPECT_EQ(d.d13, 0);
        // The condition number of the block k = 1 is ‖U Δ⁻¹ L‖/ν̂² ≤ 1e8 at ν̂ = 1e-4.
        EXPECT_NEAR(d.d33, 2 / (3 * nu), 1e-8 * d.d33) << name_of(method) << nu << " " << er;
        EXPECT_NEAR(d.d33_spitzer, 2 / (3 * nu), 1e-15 * d.d33);
      }
    }
  }
}

// D13 = −D31 up to aliasing of the discrete operators, which the grid determines: 2.8e-6 on a
// coarse grid at low collisionality, rounding (1e-13 with a margin) at ν̂ = 0.1.
TEST(Transport, IsOnsagerSymmetricUpToAliasing) {
  const auto s = builtin_surface("sample_dkes");
  EXPECT_NEAR(solve_er(s, {11, 13, 10}, 1e-4, 1e-3).onsager, 2.8e-6, 0.1e-6);
  EXPECT_LT(solve_er(s, {11, 13, 10}, 1e-1, 1e-3).onsager, 1e-12);
}

// The adjoint-consistent U is the exact transpose of L, so D13 = −D31 holds to the rounding of the
// solves, κ·ε ≈ 1e-16/ν̂² with ν̂ = 1e-3, for every method; D11 ≥ 0 on any grid.
TEST(Transport, TheAdjointConsistentFormIsSymmetricToRounding) {
  for (const char* name : {"example", "sample_dkes", "w7x_eim_sample"}) {
    const auto s = builtin_surface(name);
    for (const double er : {0.0, 1e-3}) {
      for (Method method : {Method::kDense, Method::kStructured, Method::kMixed, Method::kParity}) {
        if (method == Method::kParity && er != 0) continue;
        const auto solution = solve_er(s, {9, 11, 16}, 1e-3, er, method, true);
        EXPECT_LT(solution.onsager, 1e-9) << name << " " << er << " " << name_of(method);
        EXPECT_GT(solution.d.d11, 0);
      }
    }
  }
  // Known value of the same grid as the reference row, which differs from the plain form's.
  const auto d = solve_er(builtin_surface("example"), {17, 25, 32}, 1e-3, 0, Method::kAuto, true).d;
  EXPECT_NEAR(d.d31, -.222457, 1e-6);
}

// Axisymmetry and quasisymmetry at Ê = 0, R = D33/D33_Sp:
//   D31 ψ' B0 = −(2/3) κ (1 − R),   D11 ψ'² = (2/3) κ² ν̂ (⟨B⁻²⟩ − R/⟨B²⟩)
// with κ = (M B_ζ + N B_θ)/(ι M − N) for B(Mθ − Nζ). They follow from the discrete equations
// themselves, for any n_ξ, so only rounding is left; the second has a difference of nearly equal
// terms, ⟨B⁻²⟩⟨B²⟩ − R ≈ ε², whose cancellation costs a factor 1/ε² = 100.
void expect_quasisymmetric(const Surface& s, const Grid& grid, double nu, double kappa,
                           Method method) {
  const auto prepared = prepare(s, grid);
  const auto& g = prepared.geometry();
  const auto d = solve(prepared, {nu, 0}, {.method = method}).d;
  const double ratio = d.d33 / d.d33_spitzer;
  Field inverse_square;
  for (const double b : g.b) inverse_square.push_back(1 / (b * b));
  const double d31 = -2.0 / 3 * kappa * (1 - ratio) / (g.psi_prime * g.b0);
  const double d11 = 2.0 / 3 * kappa * kappa * nu *
                     (g.average(inverse_square) - ratio / g.mean_b2) / (g.psi_prime * g.psi_prime);
  EXPECT_NEAR(d.d31, d31, 1e-12 * std::abs(d31)) << name_of(method) << " n_xi " << grid.n_xi;
  EXPECT_NEAR(d.d11, d11, 1e-12 * std::abs(d11)) << name_of(method) << " n_xi " << grid.n_xi;
}

Surface quasihelical() {
  return parse_dkes(
      "&datain\n nzperiod = 4, psip = 0.5, chip = -0.62, btheta = 0.1, bzeta = 2.0,\n/\n"
      " borbi(0,0) = 1.0\n borbi(-1,1) = 0.1\n",
      "quasihelical");
}

TEST(Transport, QuasisymmetricIdentitiesHoldAtEveryNumberOfLegendreModes) {
  const auto tokamak = builtin_surface("tokamak");
  const auto helical = quasihelical();
  // B(θ − 4ζ): M = 1, N = 4.
  const double kappa = (helical.b_zeta + 4 * helical.b_theta) / (helical.iota - 4);
  for (const Method method :
       {Method::kDense, Method::kStructured, Method::kParity, Method::kMixed}) {
    for (const int n_xi : {2, 3, 20}) {
      expect_quasisymmetric(tokamak, {25, 3, n_xi}, 1e-2, tokamak.b_zeta / tokamak.iota, method);
      expect_quasisymmetric(helical, {15, 15, n_xi}, 1e-2, kappa, method);
    }
  }
  const auto d = solve_er(tokamak, {25, 3, 20}, 1e-3, 0).d;
  EXPECT_NEAR(d.d33 / d.d33_spitzer, 0.71320808, 1e-8);  // all digits that are known
}

// R → f_c as ν̂ → 0, with an error ∝ √ν̂: f_c = ¾⟨B²⟩∫ λ dλ/⟨√(1−λB)⟩ = 0.55079 for this tokamak.
TEST(Transport, ReachesTheBananaLimit) {
  const auto s = builtin_surface("tokamak");
  const auto ratio = [&](double nu, int n_xi) {
    const auto d = solve_er(s, {41, 3, n_xi}, nu, 0).d;
    return d.d33 / d.d33_spitzer;
  };
  const double r4 = ratio(1e-4, 100), r5 = ratio(1e-5, 200);
  EXPECT_NEAR(r4, .6047, 2e-4);
  EXPECT_NEAR(r5, .5666, 2e-4);
  // What is missing falls by √10 a decade; 10 % of room for the next order in √ν̂.
  const double f_c = .55079;
  EXPECT_NEAR((r4 - f_c) / (r5 - f_c), std::sqrt(10.0), 0.32);
}

// Plateau: B = B0(1 − ε cos θ), ψ' = εRB0: D11 → π/(8 R B0² ι), within O(ε, ν*): the spec's 1.003.
TEST(Transport, ReachesThePlateau) {
  Surface s;
  s.name = "plateau";
  s.nfp = 1;
  s.iota = 0.5;
  s.psi_prime = .005;
  s.b_theta = 0;
  s.b_zeta = 1;
  s.b = {{0, 0, 1}, {1, 0, -.005}};
  s.b0 = 1;
  const double nu_star = .006, nu = nu_star * s.iota;  // R = 1
  const double d11 = solve_er(s, {25, 3, 120}, nu, 0).d.d11;
  EXPECT_NEAR(d11 / (pi / (8 * s.iota)), 1.003, 1e-3);
}

// Pfirsch–Schlüter: D11/ν̂ → (2/3)[⟨B²u²⟩ − ⟨B²u⟩²/⟨B²⟩]/ψ'² with
// u_mn = (B_θ n nfp − B_ζ m)/(ι m + n nfp)·(B⁻²)_mn. Corrections are O(1/ν̂²).
TEST(Transport, ReachesThePfirschSchlueterLimit) {
  const auto s = builtin_surface("w7x_eim_sample");
  const Grid grid = {17, 17, 4};
  const auto g = make_geometry(s, grid);
  Field u(g.points());
  const int mm = 8, nn = 8;
  for (int m = -mm; m <= mm; ++m) {
    for (int n = -nn; n <= nn; ++n) {
      if (m == 0 && n == 0) continue;
      double re = 0, im = 0;
      const auto phase = [&](int i, int j) { return 2 * pi * (m * i / 17.0 + n * j / 17.0); };
      for (int j = 0; j < 17; ++j) {
        for (int i = 0; i < 17; ++i) {
          const double b = g.b[static_cast<std::size_t>(i + 17 * j)];
          re += std::cos(phase(i, j)) / (b * b) / 289;
          im -= std::sin(phase(i, j)) / (b * b) / 289;
        }
      }
      const double factor = (s.b_theta * n * s.nfp - s.b_zeta * m) / (s.iota * m + n * s.nfp);
      for (int j = 0; j < 17; ++j) {
        for (int i = 0; i < 17; ++i) {
          u[static_cast<std::size_t>(i + 17 * j)] +=
              factor * (re * std::cos(phase(i, j)) - im * std::sin(phase(i, j)));
        }
      }
    }
  }
  Field b2u2, b2u;
  for (std::size_t r = 0; r < u.size(); ++r) {
    b2u2.push_back(g.b[r] * g.b[r] * u[r] * u[r]);
    b2u.push_back(g.b[r] * g.b[r] * u[r]);
  }
  const double mean = g.average(b2u);
  const double limit =
      2.0 / 3 * (g.average(b2u2) - mean * mean / g.mean_b2) / (s.psi_prime * s.psi_prime);
  EXPECT_NEAR(limit, .0599414, 1e-7);
  const auto d100 = solve_er(s, grid, 100, 0).d, d200 = solve_er(s, grid, 200, 0).d;
  EXPECT_NEAR(d100.d11 / 100, .05994143, 1e-8);
  EXPECT_NEAR(d100.d11 / 100, limit, 1e-5 * limit);
  // D31 ∝ ν̂⁻², D33_Sp − D33 ∝ ν̂⁻³; the next order is ν̂⁻² smaller, 1e-4 here. The difference of the
  // second has lost nine digits at ν̂ = 200.
  EXPECT_NEAR(d100.d31 / d200.d31, 4, 4e-3);
  EXPECT_NEAR((d100.d33_spitzer - d100.d33) / (d200.d33_spitzer - d200.d33), 8, 0.02);
}

// 1/ν regime: ν̂·D11 constant at Ê = 0; a field lowers D11. B(θ,ζ) of the example surface has
// ripple; below ν̂ = 1e-4 the regime holds to a few per cent on this grid.
TEST(Transport, RippleTransportGrowsAsOneOverNuAndAFieldLowersIt) {
  const auto prepared = prepare(builtin_surface("example"), {15, 15, 120});
  const double a = solve(prepared, {1e-4, 0}).d.d11, b = solve(prepared, {5e-5, 0}).d.d11;
  EXPECT_NEAR(b / a, 2, 0.2);
  double last = a;
  for (const double er : {1e-4, 1e-3, 1e-2}) {
    const double d11 = solve(prepared, {1e-4, er}).d.d11;
    EXPECT_LT(d11, last) << er;
    last = d11;
  }
}

TEST(Transport, CoefficientsHaveTheSymmetriesOfTheEquation) {
  for (const char* name : {"example", "sample_dkes", "w7x_eim_sample"}) {
    const auto s = builtin_surface(name);
    const auto prepared = prepare(s, {9, 11, 16});
    for (const Method method : kGeneral) {
      const auto plus = solve(prepared, {1e-3, 2e-3}, {.method = method}).d;
      const auto minus = solve(prepared, {1e-3, -2e-3}, {.method = method}).d;
      // Mirror images of each other in exact arithmetic; κ·ε = 1e-16/ν̂² apart in floating point.
      EXPECT_NEAR(plus.d11, minus.d11, 1e-10 * plus.d11) << name;
      EXPECT_NEAR(plus.d31, minus.d31, 1e-9 * std::abs(plus.d31)) << name;
      EXPECT_NEAR(plus.d33, minus.d33, 1e-10 * plus.d33) << name;
      EXPECT_GT(plus.d11, 0);
      EXPECT_GT(plus.d33, 0);
      EXPECT_LT(plus.d33, plus.d33_spitzer);
    }
  }
}

// B → cB with Ê → cÊ (the drift is Ê/⟨B²⟩·B): f1 ∝ 1/c · …; lengths scale ν̂. All exact scalings, so
// rounding alone (κ·ε with ν̂ = 1e-2) is left.
TEST(Transport, ScalesWithFieldLengthAndRadius) {
  const auto s = builtin_surface("sample_dkes");
  const Grid grid = {9, 11, 12};
  const auto d = solve_er(s, grid, 1e-2, 1e-3).d;
  const double c = 3.7, tolerance = 1e-11;

  Surface radius = s;  // ψ' → cψ' at the same Ê_ψ
  radius.psi_prime *= c;
  const auto dr = solve_er(radius, grid, 1e-2, c * 1e-3).d;
  EXPECT_NEAR(dr.d11, d.d11 / (c * c), tolerance * dr.d11);
  EXPECT_NEAR(dr.d31, d.d31 / c, tolerance * std::abs(dr.d31));
  EXPECT_NEAR(dr.d33, d.d33, tolerance * d.d33);

  Surface strong = s;  // B, B_θ, B_ζ → c·: lengths stay, w stays, b·∇ stays
  for (auto& h : strong.b) h.cosine *= c;
  strong.b_theta *= c;
  strong.b_zeta *= c;
  strong.b0 = *s.b0 * c;
  strong.psi_prime *= c;
  const auto ds = solve_er(strong, grid, 1e-2, c * 1e-3).d;  // Ê_r/B fixed
  EXPECT_NEAR(ds.d11, d.d11 / (c * c), tolerance * ds.d11);
  EXPECT_NEAR(ds.d31, d.d31 / c, tolerance * std::abs(ds.d31));
  EXPECT_NEAR(ds.d33, d.d33, tolerance * d.d33);

  Surface large = s;  // lengths → c·: B_θ, B_ζ ∝ length, ν̂ ∝ 1/length, ψ' ∝ length
  large.b_theta *= c;
  large.b_zeta *= c;
  large.psi_prime *= c;
  const auto dl = solve_er(large, grid, 1e-2 / c, 1e-3).d;
  EXPECT_NEAR(dl.d33, d.d33 * c, tolerance * dl.d33);
  EXPECT_NEAR(dl.d11, d.d11 / c, tolerance * dl.d11);
  EXPECT_NEAR(dl.d31, d.d31, tolerance * std::abs(d.d31));
}

// Truncation in n_ξ converges geometrically: at ν̂ = 1e-2 each twelve more modes gain at least a
// factor ten (collisions damp mode k by ½ν̂k²).
TEST(Transport, ConvergesGeometricallyInLegendreModes) {
  const auto s = builtin_surface("example");
  const double exact = solve_er(s, {9, 9, 80}, 1e-2, 1e-3).d.d11;
  double last = INFINITY;
  for (const int n_xi : {8, 20, 32, 44}) {
    const double error = std::abs(solve_er(s, {9, 9, n_xi}, 1e-2, 1e-3).d.d11 - exact);
    EXPECT_LT(error, last / 10) << n_xi;
    last = error;
  }
}

// Even sizes are accepted, and agree with odd ones where both resolve the field.
TEST(Transport, AcceptsEvenGrids) {
  const auto s = builtin_surface("example");
  const double odd = solve_er(s, {15, 15, 24}, 1e-1, 1e-3).d.d11;
  for (const Method method : kGeneral) {
    const auto even = solve_er(s, {16, 14, 24}, 1e-1, 1e-3, method);
    EXPECT_NEAR(even.d.d11, odd, 1e-4 * odd) << name_of(method);
  }
  const auto parity = solve_er(s, {16, 14, 24}, 1e-1, 0, Method::kParity).d;
  const auto full = solve_er(s, {16, 14, 24}, 1e-1, 0, Method::kDense).d;
  EXPECT_NEAR(parity.d11, full.d11, 1e-9 * full.d11);
  EXPECT_NEAR(parity.d31, full.d31, 1e-9 * std::abs(full.d31));
}

bool warned_of(const Solution& solution, std::string_view words) {
  return std::ranges::any_of(
      solution.warnings, [&](const std::string& w) { return w.find(words) != std::string::npos; });
}

TEST(Transport, WarnsOfAnEvenGridWithAField) {
  const auto s = builtin_surface("w7x_eim_sample");
  for (const Grid grid : {Grid{6, 7, 4}, Grid{7, 6, 4}, Grid{6, 8, 4}}) {
    const auto even = solve_er(s, grid, 1e-3, 1e-3);
    EXPECT_TRUE(warned_of(even, "use odd numbers"));
    EXPECT_FALSE(warned_of(solve_er(s, grid, 1e-3, 0), "use odd numbers"));
  }
  EXPECT_FALSE(warned_of(solve_er(s, {7, 7, 4}, 1e-3, 1e-3), "use odd numbers"));
}

// The trap: ι = 0.4, nfp = 2 has ι·5 − 2 = 0, which 11 poloidal points resolve.
TEST(Transport, WarnsOfARationalSurfaceAtZeroField) {
  const auto s = builtin_surface("sample_dkes");
  const auto rational = solve_er(s, {17, 25, 16}, 1e-4, 0);
  EXPECT_TRUE(warned_of(rational, "(5, -1)"));
  EXPECT_EQ(rational.method, Method::kDense);
  const auto clean = solve_er(s, {17, 25, 16}, 1e-4, 1e-6);
  EXPECT_FALSE(warned_of(clean, "rational"));
  EXPECT_NEAR(clean.d.d11, 0.0549826, 1e-7);
  EXPECT_FALSE(warned_of(solve_er(s, {9, 11, 6}, 1e-4, 0), "rational"));  // not resolved here
}

TEST(Transport, NormalisationsFollowTheirDefinitions) {
  const auto s = builtin_surface("sample_dkes");
  const auto g = make_geometry(s, {9, 11, 6});
  const Coefficients d = {0.02, -0.5, 0.5, 200, 660};
  const auto full = full_matrix(d);
  EXPECT_EQ(full[0][1], d.d11);
  EXPECT_EQ(full[1][2], d.d13);
  EXPECT_EQ(full[2][1], d.d31);
  EXPECT_EQ(full[2][2], d.d33);
  const auto hat = in_flux_coordinate(d, 1.25);
  EXPECT_DOUBLE_EQ(hat.d11, 0.02 * 1.5625);
  EXPECT_DOUBLE_EQ(hat.d31, -0.5 * 1.25);
  const auto dkes = dkes_output(d, g);
  EXPECT_DOUBLE_EQ(dkes.l11, d.d11);
  EXPECT_NEAR(dkes.l31, d.d31 * 2.4 / std::sqrt(g.mean_b2), 1e-15);
  EXPECT_NEAR(dkes.l33, 460 * 2.4 * 2.4 / g.mean_b2, 1e-12);
  // The stars of a plateau and of a banana tokamak are 1 by construction; here only the algebra.
  const auto star = benchmark_stars(d, g, 1e-3, 2.4e-3);
  EXPECT_DOUBLE_EQ(star.v_e_star, 1e-3);
  EXPECT_NEAR(star.nu_star, 1e-3 * (1.4 / 2.4) / 0.4, 1e-15);
  EXPECT_NEAR(star.d11_star, 0.02 * 8 * (1.4 / 2.4) * 2.4 * 2.4 * 0.4 / pi, 1e-14);
}

}  // namespace
}  // namespace assay::transport
