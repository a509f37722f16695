// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/mp2/mp2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "einsum/mp2/hydrogen.h"
#include "einsum/mp2/mp2_synthetic.h"

namespace assay::einsum {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct Mp2Row {
  std::int64_t nocc, nvir, naux;
  double total, opposite;
};

TEST(Mp2, EqualsQuadruplePrecision) {
  for (const auto& row : {Mp2Row{2, 3, 5, -0.001798037601278, -0.001482181533951},
                          Mp2Row{5, 19, 72, -6.817539626584236, -4.727242493975780},
                          Mp2Row{16, 128, 128, -1213.516480559374250, -650.337383132874373}}) {
    const auto s = synthetic_mp2(row.nocc, row.nvir, row.naux);
    EXPECT_EQ(s.b.as<double>()[0], 0.07666216164272853);
    const auto e = mp2_energy(s.b.view(), s.occupied, s.virtuals);
    // The last digit that is given, or 1e-10 relative, whichever is larger.
    EXPECT_NEAR(e.total, row.total, std::max(1e-15, 1e-12 * std::abs(row.total)));
    EXPECT_NEAR(e.opposite_spin, row.opposite, std::max(1e-15, 1e-12 * std::abs(row.opposite)));
    EXPECT_EQ(e.total, e.opposite_spin + e.same_spin);
    const auto threads = mp2_energy(s.b.view(), s.occupied, s.virtuals, {.threads = 3});
    EXPECT_EQ(e.total, threads.total) << "the same bits for any number of threads";
  }
}

// All pairs and all orbitals, term by term.
double by_definition(const Tensor& b, const std::vector<double>& eo,
                     const std::vector<double>& ev) {
  const auto v = b.view();
  const auto t = [&](std::size_t i, std::size_t j, std::size_t a, std::size_t c) {
    double sum = 0;
    for (std::int64_t p = 0; p < v.extent(2); ++p)
      sum += v.at<double>(i, a, p) * v.at<double>(j, c, p);
    return sum;
  };
  double energy = 0;
  for (std::size_t i = 0; i < eo.size(); ++i) {
    for (std::size_t j = 0; j < eo.size(); ++j) {
      for (std::size_t a = 0; a < ev.size(); ++a) {
        for (std::size_t c = 0; c < ev.size(); ++c) {
          energy +=
              t(i, j, a, c) * (2 * t(i, j, a, c) - t(i, j, c, a)) / (eo[i] + eo[j] - ev[a] - ev[c]);
        }
      }
    }
  }
  return energy;
}

TEST(Mp2, EqualsItsDefinitionAroundTheTiles) {
  for (const std::int64_t nvir : {1, 7, 8, 9, 17}) {
    const auto s = synthetic_mp2(3, nvir, 4);
    const double right = by_definition(s.b, s.occupied, s.virtuals);
    EXPECT_NEAR(mp2_energy(s.b.view(), s.occupied, s.virtuals).total, right,
                1e-13 * std::abs(right));
  }
  // More virtual orbitals than one tile holds.
  const auto wide = synthetic_mp2(2, 257 + 9, 2);
  const double right = by_definition(wide.b, wide.occupied, wide.virtuals);
  EXPECT_NEAR(mp2_energy(wide.b.view(), wide.occupied, wide.virtuals).total, right,
              1e-12 * std::abs(right));
}

TEST(Mp2, FrozenOrbitalsAreLeftOut) {
  const auto s = synthetic_mp2(5, 9, 6);
  const auto frozen =
      mp2_energy(s.b.view(), s.occupied, s.virtuals, {.frozen_occupied = 2, .frozen_virtual = 3});
  const Tensor part = Tensor::copy(s.b.view().slice(0, 2, 5).slice(1, 0, 6));
  const std::vector<double> eo(s.occupied.begin() + 2, s.occupied.end()),
      ev(s.virtuals.begin(), s.virtuals.begin() + 6);
  const double right = by_definition(part, eo, ev);
  EXPECT_NEAR(frozen.total, right, 1e-13 * std::abs(right));
  EXPECT_EQ(mp2_energy(s.b.view(), s.occupied, s.virtuals, {.frozen_occupied = 5}).total, 0);
}

double correlation(const HydrogenChain& chain, double scf) {
  const auto field = solve_mean_field(chain);
  EXPECT_NEAR(field.energy, scf, 2e-11);
  Engine engine;
  const auto c = field.coefficients.view();
  const auto n = c.extent(1), o = static_cast<std::int64_t>(field.occupied);
  const auto b = ao_to_mo(engine, field.b.view(), c.slice(1, 0, o), c.slice(1, o, n));
  const std::span energies(field.orbital_energies);
  return mp2_energy(b.view(), energies.first(static_cast<std::size_t>(o)),
                    energies.subspan(static_cast<std::size_t>(o)))
      .total;
}

TEST(Mp2, EqualsKnownMolecules) {
  // Twelve digits are known; the factorised integrals are within 1e-11.
  EXPECT_NEAR(correlation({2, 1.4, HydrogenBasis::kSto3g}, -1.116714325063), -0.013157870053,
              1e-11);
  EXPECT_NEAR(correlation({10, 1.8, HydrogenBasis::k631g}, -5.371820853855), -0.116482867679,
              1e-10);
}

TEST(Mp2, SaysWhatItCannotDo) {
  const auto s = synthetic_mp2(2, 3, 4);
  std::vector<double> high = s.occupied;
  high[1] = 0.2;
  EXPECT_THAT([&] { mp2_energy(s.b.view(), high, s.virtuals); },
              ThrowsMessage<UserError>(HasSubstr("0.2 is not below")));
  EXPECT_THAT([&] { mp2_energy(s.b.view(), s.virtuals, s.virtuals); },
              ThrowsMessage<UserError>(HasSubstr("2 occupied orbitals, but there are 3")));
  EXPECT_THAT([&] { mp2_energy(s.b.view(), s.occupied, s.virtuals, {.frozen_occupied = 3}); },
              ThrowsMessage<UserError>(HasSubstr("3 cannot be frozen")));
  EXPECT_THAT(
      [&] {
        solve_mean_field({3, 1.4, HydrogenBasis::kSto3g});
      },
      ThrowsMessage<UserError>(HasSubstr("not 3")));
}

}  // namespace
}  // namespace assay::einsum
