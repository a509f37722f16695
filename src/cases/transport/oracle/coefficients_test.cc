// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/oracle/coefficients.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace assay::cases::transport::oracle {
namespace {

struct Row {
  std::string surface;
  Grid grid;
  double nu_hat, er_hat;
  std::array<double, 4> d;
};

// Exact values of the discrete system, computed in binary128 by a program of its own.
TEST(Oracle, GivesTheExactValuesOfTheDiscreteSystem) {
  const Row rows[] = {{"example",
                       {5, 5, 2},
                       1e-2,
                       1e-3,
                       {0.023117560766006417998, -0.12819189717517782164, 0.12810223369038098054,
                        2.758201857344396831}},
                      {"example",
                       {9, 9, 8},
                       1e-2,
                       0,
                       {0.0028783368203108307825, -0.1078445723805402639, 0.10784766404262776465,
                        47.052092534181042662}},
                      {"sample_dkes",
                       {5, 5, 4},
                       1e-5,
                       1e-3,
                       {0.0099462023028133289544, -0.17300164178311985289, 0.17343731596152533988,
                        301.43170663220177623}},
                      {"sample_dkes",
                       {11, 13, 10},
                       1e-4,
                       1e-3,
                       {0.054560326896115719442, -1.3191222763953063954, 1.3191186026959238921,
                        2198.5763643921422479}},
                      {"w7x_eim_sample",
                       {5, 5, 4},
                       1e-5,
                       1e-3,
                       {0.0049033269025063092366, 0.01860191157395046586, -0.016050082935190236518,
                        73.377433219001583242}},
                      {"sample_dkes",
                       {17, 25, 16},
                       1e-3,
                       1e-3,
                       {0.0065657523203352391281, -0.29576226876193487671, 0.29576226877430836815,
                        421.09276354857577767}}};
  for (const auto& row : rows) {
    const auto answer = solve(surface(row.surface), row.grid, row.nu_hat, row.er_hat);
    ASSERT_TRUE(answer.has_value());
    EXPECT_LT(answer->residual, 1e-13);
    for (std::size_t c = 0; c < 4; ++c) {
      EXPECT_NEAR(answer->d[c], row.d[c], 1e-13 * std::abs(row.d[c])) << row.surface << " " << c;
    }
  }
}

TEST(Oracle, AConstantFieldHasSpitzersConductivityAlone) {
  const Surface plain{
      .nfp = 2, .iota = 0.4, .b_theta = 0.1, .b_zeta = 1, .b0 = 2, .b = {{0, 0, 2}}};
  for (const double er : {0.0, 1e-2}) {
    const auto answer = solve(plain, {5, 7, 4}, 1e-3, er);
    ASSERT_TRUE(answer.has_value());
    for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(answer->d[c], 0) << c;
    EXPECT_NEAR(answer->d[3], 2 / 3e-3, 1e-12);
  }
}

// With κ = B_ζ/ι and R = D33/D33_Spitzer: D31 ψ'B0 = −(2/3)κ(1−R) at any n_ξ.
TEST(Oracle, AxisymmetryTiesTheCoefficients) {
  const auto& s = surface("tokamak");
  const auto answer = solve(s, {25, 3, 20}, 1e-3, 0);
  ASSERT_TRUE(answer.has_value());
  double sum = 0;  // 1/⟨B²⟩ is the mean of B⁻²
  for (int i = 0; i < 25; ++i) {
    sum += std::pow(1 - 0.1 * std::cos(2 * 3.14159265358979323846 * i / 25), -2) / 25;
  }
  const double ratio = answer->d[3] / (2 / 3e-3 / sum);
  EXPECT_NEAR(ratio, 0.71320808, 1e-8);
  EXPECT_NEAR(answer->d[1] * 0.3, -2.0 / 3 * (3 / 0.43) * (1 - ratio), 1e-12);
}

// ι = 0.4, nfp = 2: the mode (5, −1) closes on itself, and 11 points resolve m = 5.
TEST(Oracle, KnowsRationalSurfaces) {
  EXPECT_FALSE(is_rational(surface("sample_dkes"), {9, 11, 6}));
  EXPECT_TRUE(is_rational(surface("sample_dkes"), {11, 11, 6}));
  EXPECT_FALSE(is_rational(surface("example"), {25, 25, 60}));
}

}  // namespace
}  // namespace assay::cases::transport::oracle
