// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/profiles/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace assay::transport {
namespace {

constexpr const char* kPlasma = R"(
[plasma]
coulomb_logarithm = 17
[[species]]
name = "e"
density = { polynomial = [6e19, 0, -4e19] }
temperature = { polynomial = [3000, 0, -2500] }
[[species]]
name = "D"
temperature = { rho = [0, 0.25, 0.5, 0.75, 1], value = [2000, 1937.5, 1750, 1437.5, 1000] }
)";

std::vector<double> decades(double from, double to, int each) {
  std::vector<double> out;
  const int n = static_cast<int>(std::lround((to - from) * each));
  for (int i = 0; i <= n; ++i) out.push_back(std::pow(10, from + i * 1.0 / each));
  return out;
}

std::string refusal(const std::string& text) {
  try {
    parse_profiles(text, "p.toml").species_at(0.5, 0.5);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(ProfilesInput, ReadsProfilesAndTheirGradients) {
  const auto in = parse_profiles(kPlasma, "p.toml");
  const auto s = in.species_at(0.4, 0.5);
  EXPECT_NEAR(s[0].density, 6e19 - 4e19 * 0.16, 1e9);
  EXPECT_NEAR(s[0].density_gradient, -2 * 4e19 * 0.4 / 0.5, 1e9);
  // From neutrality, and a parabola through points is itself.
  EXPECT_NEAR(s[1].density, s[0].density, 1e9);
  EXPECT_NEAR(s[1].density_gradient, s[0].density_gradient, 1e9);
  EXPECT_NEAR(s[1].temperature / kElementaryCharge, 2000 - 1000 * 0.16, 1e-9);
  EXPECT_NEAR(s[1].temperature_gradient / kElementaryCharge, -2 * 1000 * 0.4 / 0.5, 1e-8);
  EXPECT_EQ(in.root, RootKind::kIon);
  EXPECT_FALSE(in.er);
}

TEST(ProfilesInput, SaysWhatIsWrong) {
  const std::string plasma = kPlasma;
  EXPECT_THAT(refusal(plasma + "colour = 1\n"), testing::HasSubstr("colour"));
  EXPECT_THAT(refusal(plasma + "[field]\ner = 'both'\n"), testing::HasSubstr("'ambipolar'"));
  EXPECT_THAT(refusal(plasma + "[field]\nrange = [1, 0]\n"), testing::HasSubstr("ascend"));
  EXPECT_THAT(refusal(plasma + "[[species]]\nname = 'Xx'\ntemperature = 1\n"),
              testing::HasSubstr("mass"));
  EXPECT_THAT(refusal(plasma + "[[species]]\nname = 'D'\ndensity = 1e19\ntemperature = 1\n"),
              testing::HasSubstr("'D' is there twice"));
  EXPECT_THAT(refusal(plasma + "[[species]]\nname = 'H'\ntemperature = 1\n"),
              testing::HasSubstr("alone"));
  EXPECT_THAT(refusal(plasma + "[[species]]\nname = 'C'\ndensity = 2e19\ntemperature = 900\n"),
              testing::HasSubstr("density of 'D' at rho 0.5 must be positive"));
  EXPECT_THAT(refusal(plasma + "[grid]\nn_theta = 5\n"), testing::HasSubstr("[[surface]]"));
  EXPECT_THAT(refusal("[[species]]\nname = 'D'\ndensity = 1e19\ntemperature = 1\n"),
              testing::HasSubstr("coulomb_logarithm"));
  EXPECT_THAT(refusal("[plasma]\ncoulomb_logarithm = 15\n[[species]]\nname = 'D'\ndensity = "
                      "1e19\ntemperature = 1\n"),
              testing::HasSubstr("not neutral"));
}

// The built-in tokamak, solved: with momentum conserved Σ qΓ vanishes to the table's error at any
// E_r, without it does not, and E_r is said not to be determined.
TEST(Answer, OfATokamakIsAmbipolarToTheTablesError) {
  auto in = parse_profiles(kPlasma, "p.toml");
  std::vector<std::string> warnings;
  const auto tokamak = builtin_surface("tokamak");
  auto table = make_table(tokamak, {25, 3, 60}, 0.5, 0.15, decades(-5, 2, 2), {0}, {}, warnings);
  const auto out = answer(in, table);
  EXPECT_FALSE(out.search.determined);
  EXPECT_LT(out.search.relative_current, 1e-6);  // what is left of P at ν̂ = 1e3
  EXPECT_GT(std::abs(out.fluxes.plain.radial_current), 0.5 * out.fluxes.plain.radial_scale);
  EXPECT_EQ(out.er, 0);
  EXPECT_LT(out.fluxes.onsager_error, 1e-8);
  EXPECT_GT(std::abs(out.fluxes.corrected.parallel_current), 1e3);

  // Without the limit: of third order in the distance of points.
  double before = 1;
  for (const int each : {2, 4, 8}) {
    table = make_table(tokamak, {25, 3, 60}, 0.5, 0.15, decades(-5, 2, each), {0}, {}, warnings);
    table.pfirsch_schlueter = 0;
    const double left = answer(in, table).search.relative_current;
    EXPECT_LT(left, before / 4);
    before = left;
  }
  EXPECT_LT(before, 2e-5);
}

// Quasi-symmetry in another direction: B of θ + 4ζ alone, four periods.
TEST(Answer, OfAQuasihelicalSurfaceLikewise) {
  Surface s = builtin_surface("tokamak");
  s.nfp = 4;
  s.iota = 1.1;
  s.b = {{0, 0, 1, 0}, {1, 1, 0.12, 0}};
  auto in = parse_profiles(kPlasma, "p.toml");
  std::vector<std::string> warnings;
  const auto table = make_table(s, {19, 19, 30}, 0.5, 0.15, decades(-3.5, 2, 2), {0}, {}, warnings);
  const auto f = RadiusProblem(interpolated(table), in.species_at(0.5, 0.3), {}).at(-7e3);
  EXPECT_LT(std::abs(f.corrected.radial_current), 1e-6 * f.plain.radial_scale);
  EXPECT_GT(std::abs(f.plain.radial_current), 0.5 * f.plain.radial_scale);
}

// A stellarator in its 1/ν regime, D11 ∝ 1/(ν̂ (1 + (Ê/(10 ν̂))²)): hot electrons open a second
// stable root.
CoefficientTable stellarator() {
  CoefficientTable t;
  t.rho = 0.5;
  t.r = 0.25;
  t.b0 = 2;
  t.nu_hat = decades(-6, 2, 3);
  t.er_hat = {0};
  for (const double e : decades(-6, 0, 3)) t.er_hat.push_back(e);
  for (const double nu : t.nu_hat) {
    for (const double e : t.er_hat) {
      const double trapped = 0.3 / (1 + nu * nu), ratio = e / (10 * nu);
      t.d11.push_back(1e-4 / nu / (1 + ratio * ratio * std::sqrt(ratio)) + 1e-3 * nu);
      t.d31.push_back(-0.5 * trapped);
      t.d13.push_back(0.5 * trapped);
      t.d33_spitzer.push_back(2 / (3 * nu) * 1.02);
      t.d33.push_back(t.d33_spitzer.back() * (1 - trapped));
    }
  }
  return t;
}

TEST(Answer, FindsEveryRootAndItsKind) {
  auto in = parse_profiles(std::string(kPlasma) + "[field]\nrange = [-3e4, 6e4]\n", "p.toml");
  const auto ion = answer(in, stellarator());
  ASSERT_FALSE(ion.search.roots.empty());
  for (const auto& root : ion.search.roots) {
    const RadiusProblem problem(interpolated(stellarator()), ion.species, {17, 3});
    const auto f = problem.fluxes(root.er).corrected;
    EXPECT_LT(std::abs(f.radial_current), 1e-7 * f.radial_scale);
    EXPECT_EQ(root.stable, root.slope > 0);
    EXPECT_EQ(root.kind == RootKind::kUnstable, !root.stable);
  }
  // Stable and unstable ones alternate.
  for (std::size_t i = 1; i < ion.search.roots.size(); ++i) {
    EXPECT_NE(ion.search.roots[i].stable, ion.search.roots[i - 1].stable);
  }
  EXPECT_EQ(ion.search.roots.front().kind, RootKind::kIon);
  EXPECT_LT(ion.er, 0);
  EXPECT_EQ(ion.er, ion.search.roots.front().er);

  // Electrons of 20 keV over ions of 1 keV: three roots, or the electron one alone.
  auto hot = parse_profiles(R"(
[plasma]
coulomb_logarithm = 17
[[species]]
name = "e"
density = { polynomial = [1e19, 0, -2e18] }
temperature = { polynomial = [8000, 0, -7000] }
[[species]]
name = "H"
temperature = { polynomial = [1500, 0, -700] }
[field]
range = [-3e4, 6e4]
root = "electron"
)",
                            "hot.toml");
  const auto electron = answer(hot, stellarator());
  ASSERT_FALSE(electron.search.roots.empty());
  EXPECT_EQ(electron.search.roots.back().kind, RootKind::kElectron);
  EXPECT_GT(electron.er, 0);
}

TEST(Answer, SaysHowMuchLiesBeyondTheTable) {
  const auto in = parse_profiles(std::string(kPlasma) + "[field]\ner = -2000\n", "p.toml");
  auto table = stellarator();
  EXPECT_LT(answer(in, table).fluxes.outside_share, kOutsideWarning);
  CoefficientTable cut = table;
  const std::size_t width = table.er_hat.size(), from = 9;  // from ν̂ = 1e-3 on
  for (auto* v : {&cut.d11, &cut.d31, &cut.d13, &cut.d33, &cut.d33_spitzer}) {
    v->erase(v->begin(), v->begin() + static_cast<std::ptrdiff_t>(from * width));
  }
  cut.nu_hat.erase(cut.nu_hat.begin(), cut.nu_hat.begin() + static_cast<std::ptrdiff_t>(from));
  const auto out = answer(in, cut);
  EXPECT_GT(out.fluxes.outside_share, 0.5);
  EXPECT_THAT(out.warnings, testing::Contains(testing::HasSubstr("beyond the table")));
  EXPECT_EQ(out.er, -2000);
}

}  // namespace
}  // namespace assay::transport
