// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/energy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "base/error.h"

namespace assay::transport {
namespace {

using std::numbers::pi;

// D = 1: (2/√π) Γ(n + 3/2); D ∝ ν̂⁻¹ ∝ K²: (2/√π) Γ(n + 7/2)/ν̂_th. The table of the second ends at ν̂
// = 1e3, K = 3e-3: below, D is held at 1e-3, which adds (2/√π)·1e-3·⅔·K^{3/2} = 1.3e-7, 4e-10 of
// the whole.
TEST(EnergyIntegral, OfAPowerIsAGammaFunction) {
  const std::vector<double> nu = {1e-6, 1e-3, 1e3}, one = {1, 1, 1}, inverse = {1e6, 1e3, 1e-3};
  for (const int n : {0, 1, 2}) {
    const double exact = 2 / std::sqrt(pi) * std::tgamma(n + 1.5);
    EXPECT_NEAR(energy_integral(nu, one, 1e-2, n), exact, 1e-12 * exact);
  }
  const double exact = 2 / std::sqrt(pi) * std::tgamma(3.5) / 1e-2;
  EXPECT_NEAR(energy_integral(nu, inverse, 1e-2, 0), exact, 1e-9 * exact);
  EXPECT_THROW(energy_integral(nu, std::vector<double>{1, NAN, 1}, 1, 0), UserError);
  EXPECT_THROW(energy_integral(nu, one, 0, 0), UserError);
  EXPECT_THROW(energy_integral(one, one, 1, 0), UserError);
  EXPECT_THROW(energy_integral({nu.data(), 1}, {one.data(), 1}, 1, 0), UserError);
}

// D = 1 up to ν̂ = 0.1 and 10 ν̂ above, ν̂_th = 0.1: the kink stands at K = 1, and for n = 2 the
// integral is γ(3/2, 1) + Γ(7/2, 1), the table ending at K = 1e-9, below which K^{3/2} = 3e-14 is.
TEST(EnergyIntegral, SeesTheKinksOfTheTable) {
  const double e = std::exp(-1.0);
  double above = std::sqrt(pi) * std::erfc(1.0);  // Γ(1/2, 1), then upwards
  for (const double a : {0.5, 1.5, 2.5}) above = a * above + e;
  const double below = std::sqrt(pi) / 2 * std::erf(1.0) - e;
  const double exact = 2 / std::sqrt(pi) * (below + above);
  EXPECT_NEAR(energy_integral(std::vector<double>{1e-3, 0.1, 1e17}, std::vector<double>{1, 1, 1e18},
                              0.1, 2),
              exact, 1e-12 * exact);
}

// D = ln ν̂/ln 1e8 through its zero: ∫ K^{1/2} e^{−K} ln K = Γ(3/2) ψ(3/2). The table ends at
// K = 1e-5, and K^{3/2} = 3e-8 is missing below.
TEST(EnergyIntegral, OfACoefficientThatChangesItsSign) {
  const std::vector<double> nu = {1e-8, 1e8}, d = {-1, 1};
  const double psi = 0.03648997397857652, thermal = 1e-2;
  const double exact = (std::log(thermal) - 2 * psi) / std::log(1e8);
  EXPECT_NEAR(energy_integral(nu, d, thermal, 0), exact, 1e-7);
  EXPECT_EQ(energy_integral(nu, std::vector<double>{0, 0}, thermal, 0), 0);
}

}  // namespace
}  // namespace assay::transport
