// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/profiles/monoenergetic.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace assay::transport {
namespace {

// D11 = 3 ν̂^p (1 + Ê²)^{-1}, t = D-shares that fall as ν̂^{-2}, D31 = −t·2.
CoefficientTable power_table(double power, std::vector<double> er = {0}) {
  CoefficientTable t;
  t.rho = 0.5;
  t.r = 0.2;
  t.b0 = 2;
  t.er_hat = std::move(er);
  for (double e = -4; e <= 0; e += 0.5) t.nu_hat.push_back(std::pow(10, e));
  for (const double nu : t.nu_hat) {
    for (const double field : t.er_hat) {
      const double trapped = 0.4 / (1 + 100 * nu * nu);
      t.d11.push_back(3 * std::pow(nu, power) / (1 + field * field));
      t.d31.push_back(-2 * trapped);
      t.d13.push_back(2 * trapped);
      t.d33_spitzer.push_back(2 / (3 * nu) * 1.05);
      t.d33.push_back(t.d33_spitzer.back() * (1 - trapped));
    }
  }
  return t;
}

TEST(Monoenergetic, IsThePowerLawOfTheTableInsideAndBeyond) {
  for (const double power : {-1.0, -0.3, 0.5, 1.0}) {
    const auto m = interpolated(power_table(power));
    EXPECT_NEAR(m.mean_b2, 1.05 * 4, 1e-12);
    for (const double nu : {1e-7, 1.3e-3, 0.2, 40.0}) {
      const auto p = m.at(nu, 0);
      EXPECT_NEAR(p.d11 / (3 * std::pow(nu, power)), 1, 1e-11) << power << " " << nu;
      EXPECT_EQ(p.outside, nu < 1e-4 || nu > 1);
      EXPECT_NEAR(p.d31, -2 * (1 - p.share), 1e-12);
      EXPECT_NEAR(p.d13, -p.d31, 1e-12);
    }
  }
  // A slope that no regime has is not carried on: 1/ν is the steepest.
  const auto steep = interpolated(power_table(-3));
  EXPECT_NEAR(steep.at(1e-6, 0).d11 / steep.at(1e-4, 0).d11, 100, 1e-6);
}

TEST(Monoenergetic, IsEvenInTheFieldAndThirdOrderInLogNu) {
  const auto table = power_table(0.2, {0, 0.1, 0.3, 1, 3});
  const auto m = interpolated(table);
  EXPECT_EQ(m.at(0.01, -0.2).d11, m.at(0.01, 0.2).d11);
  EXPECT_NEAR(m.at(0.01, 0.2).d11 * (1 + 0.04) / (3 * std::pow(0.01, 0.2)), 1, 0.01);
  EXPECT_FALSE(m.at(0.01, 3).outside);
  EXPECT_TRUE(m.at(0.01, 3.1).outside);
  // Share of D33 between the points, against its formula: (ln 10/2)³ of a smooth curve.
  const double nu = std::pow(10, -1.25), trapped = 0.4 / (1 + 100 * nu * nu);
  EXPECT_NEAR((1 - m.at(nu, 0).share) / trapped, 1, 0.02);
}

TEST(Monoenergetic, FindsTheLimitOfTheTable) {
  auto t = power_table(1);
  for (std::size_t i = 0; i < t.nu_hat.size(); ++i) t.d11[i] = 3 * t.nu_hat[i] + 1e-3 / t.nu_hat[i];
  EXPECT_NEAR(interpolated(t).pfirsch_schlueter, 3, 1e-9);
  EXPECT_EQ(interpolated(t).warnings.size(), 1U);                // one field only
  EXPECT_EQ(interpolated(power_table(-1)).warnings.size(), 2U);  // and no such regime
}

TEST(Monoenergetic, TakesAConstantField) {
  auto t = power_table(1);
  for (std::size_t i = 0; i < t.nu_hat.size(); ++i) {
    t.d11[i] = t.d31[i] = t.d13[i] = 0;
    t.d33[i] = t.d33_spitzer[i];
  }
  const auto p = interpolated(t).at(3e-3, 0);
  EXPECT_EQ(p.d11, 0);
  EXPECT_EQ(p.d31, 0);
  EXPECT_EQ(p.share, 1);
}

TEST(Monoenergetic, RefusesWhatIsNoTable) {
  auto t = power_table(1);
  t.nu_hat.resize(2);
  EXPECT_THROW(interpolated(t), UserError);
  t = power_table(1);
  std::swap(t.nu_hat[0], t.nu_hat[1]);
  EXPECT_THROW(interpolated(t), UserError);
  t = power_table(1);
  t.d31[3] = NAN;
  EXPECT_THROW(interpolated(t), UserError);
  t = power_table(1);
  t.d33[3] = -1;
  EXPECT_THROW(interpolated(t), UserError);
}

}  // namespace
}  // namespace assay::transport
