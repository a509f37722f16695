// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// What a solution says of its own quality.

#include "transport/quality.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "transport/memory.h"
#include "transport/surface/surface_text.h"

namespace assay::transport {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Solution solved(const Surface& s, const Grid& grid, double nu, double er,
                Method method = Method::kAuto) {
  return solve(prepare(s, grid), case_of_er(nu, er, s.psi_prime), {.method = method});
}

// The genuine surfaces are not part of the sources.
std::string shared_file(const std::string& name) {
  const char* set = std::getenv("ASSAY_SHARED_DATA");
  return std::string(set != nullptr ? set : ASSAY_SHARED_DATA_DEFAULT) + "/transport/real/" + name;
}

TEST(Quality, AResolvedSolutionHasNothingToWarnOf) {
  for (const double er : {0.0, 1e-3}) {
    const auto s = solved(builtin_surface("w7x_eim_sample"), {13, 25, 30}, 1e-2, er);
    EXPECT_THAT(s.warnings, IsEmpty());
    EXPECT_TRUE(s.quality.whole);
    EXPECT_LT(s.quality.residual, 1e-12);
    for (const int digits : correct_digits(s)) EXPECT_GE(digits, 11);
  }
  // Nothing varies, nothing is trapped.
  auto constant = builtin_surface("example");
  constant.b = {{0, 0, 1, 0}};
  for (const double er : {0.0, 1e-2}) {
    EXPECT_THAT(solved(constant, {9, 9, 16}, 1e-2, er).warnings, IsEmpty());
  }
}

// Aliasing makes another adjoint of the solution: the residual, times it, was up to nineteen times
// smaller than the error. The values are those of another elimination, refined to a residual of
// 2e-16.
TEST(Quality, OnACoarseGridErrorsAreNotSaidToBeSmaller) {
  const struct {
    int step;
    double epsi_hat;
    Coefficients d;
  } cases[] = {
      {24, -0.001, {0.0633497913861677, -1.01748814652903, 1.02212200038112, 40.1438164830099}},
      {26, -0.001, {0.0717323459692964, -1.02736159099352, 1.03280474887789, 40.9219419061022}},
      {28, -0.001, {0.0800171932346236, -1.04001077124573, 1.04638836857841, 42.1302895491224}},
      {31, 0.002, {0.02967264648996, -0.988071526910766, 0.99219924977091, 77.8319046823613}},
      {35, -0.001, {0.0996676796611612, -1.10562190489439, 1.11553734058456, 47.33486895995}},
  };
  const auto prepared = prepare(builtin_surface("example"), {5, 7, 4});
  for (const auto& [step, epsi_hat, right] : cases) {
    const double nu_hat = 1e-5 * std::pow(10, step / 27.0);
    const auto s = solve(prepared, {nu_hat, epsi_hat}, {.method = Method::kStructured});
    for (const auto value :
         {&Coefficients::d11, &Coefficients::d31, &Coefficients::d13, &Coefficients::d33}) {
      EXPECT_NEAR(s.d.*value, right.*value,
                  2 * s.quality.error.*value + 1e-12 * std::abs(right.*value))
          << nu_hat << " " << epsi_hat;
    }
  }
}

TEST(Quality, NamesTheNumberThatIsTooSmall) {
  const auto s = builtin_surface("w7x_eim_sample");
  EXPECT_THAT(solved(s, {13, 25, 6}, 1e-2, 1e-3).warnings, Contains(HasSubstr("n_xi = 6")));
  EXPECT_THAT(solved(s, {21, 9, 60}, 1e-4, 0).warnings, Contains(HasSubstr("n_zeta = 9")));
  EXPECT_THAT(solved(s, {7, 41, 60}, 1e-4, 0).warnings, Contains(HasSubstr("n_theta = 7")));
}

// A mode of B beyond the grid is taken for another one: D11 was 0.063 in place of 0.108, with
// fifteen digits and a clean spectrum.
TEST(Quality, NamesTheGridThatIsTooSmallForTheField) {
  Surface s;
  s.nfp = 1;
  s.iota = -0.43423013468493077;
  s.psi_prime = 0.5;
  s.b_theta = 0.1;
  s.b_zeta = 3.1484094704883248;
  s.b = {{0, 0, 2.0, 0},
         {0, 1, -0.15790977096240255, 0},
         {1, 1, -0.14251110898508051, 0},
         {1, -1, 0.2159000165012286, 0},
         {6, 4, -0.016097529569270977, 0}};
  EXPECT_THAT(solved(s, {9, 13, 20}, 0.0371, 0).warnings,
              Contains(HasSubstr("n_theta = 9 is too small for B, whose modes go to 6")));
  EXPECT_THAT(solved(s, {21, 25, 20}, 0.0371, 0).warnings, IsEmpty());
  s.b.back().cosine *= 1e-3;  // too weak to matter
  EXPECT_THAT(solved(s, {9, 13, 20}, 0.0371, 0).warnings, IsEmpty());
}

// ι = 1.00377, nfp 5: the mode (5, −1) nearly closes on itself, and 9 x 11 points do not have it.
TEST(Quality, NamesTheResonanceThatTheGridDoesNotResolve) {
  auto s = builtin_surface("example");
  s.iota = 1.00377;
  EXPECT_THAT(solved(s, {9, 11, 12}, 1e-2, 0).warnings,
              Contains(HasSubstr("(m, n) = (5, -1), which the grid does not resolve")));
  EXPECT_THAT(solved(s, {9, 11, 12}, 1e-2, 1e-2).warnings,
              Not(Contains(HasSubstr("does not resolve"))));
  s.iota = 0.85;
  EXPECT_THAT(solved(s, {9, 11, 12}, 1e-2, 0).warnings,
              Not(Contains(HasSubstr("does not resolve"))));
}

// The last mode of an even number is left open at zero field, and says nothing of the others.
TEST(Quality, AnEvenNumberOfPointsIsNotCalledTooSmallForThat) {
  const auto s = builtin_surface("w7x_eim_sample");
  for (const auto method : {Method::kDense, Method::kStructured}) {
    EXPECT_THAT(solved(s, {14, 26, 30}, 1e-2, 0, method).warnings, IsEmpty());
  }
}

TEST(Quality, AFieldThatMakesNoDifferenceIsNone) {
  const auto s = builtin_surface("sample_dkes");
  const auto zero = solved(s, {13, 13, 10}, 1e-4, 0), tiny = solved(s, {13, 13, 10}, 1e-4, 1e-16);
  EXPECT_THAT(tiny.warnings, Contains(HasSubstr("(5, -1)")));
  EXPECT_THAT(tiny.warnings, Contains(HasSubstr("D11 has lost its digits")));
  EXPECT_EQ(tiny.d.d11, zero.d.d11);
  EXPECT_EQ(tiny.method, zero.method);
  EXPECT_THAT(solved(s, {13, 13, 10}, 1e-4, 1e-9).warnings, Not(Contains(HasSubstr("rational"))));
}

TEST(Quality, AbsurdCollisionalitiesAreSeen) {
  const auto s = builtin_surface("sample_dkes");
  EXPECT_THAT(solved(s, {9, 11, 8}, 1e-300, 1e-3).warnings, Contains(HasSubstr("lost its digits")));
  EXPECT_THAT(solved(s, {9, 11, 8}, 1e300, 1e-3).warnings, Contains(HasSubstr("lost its digits")));
}

TEST(Quality, SignsAndBoundsAreLookedAt) {
  const auto prepared = prepare(builtin_surface("w7x_eim_sample"), {9, 13, 20});
  auto s = solve(prepared, {1e-2, 0});
  const auto warnings_with = [&](auto&& change) {
    auto other = s;
    change(other);
    other.warnings.clear();
    add_warnings(prepared, other);
    return other.warnings;
  };
  EXPECT_THAT(warnings_with([](Solution&) {}), IsEmpty());
  EXPECT_THAT(warnings_with([](Solution& o) { o.d.d11 = -1e-9; }),
              Contains(HasSubstr("D11 is negative: -1e-09")));
  EXPECT_THAT(warnings_with([](Solution& o) { o.d.d33 = -1; }),
              Contains(HasSubstr("D33 is negat")));
  EXPECT_THAT(warnings_with([](Solution& o) { o.d.d33 = 1.01 * o.d.d33_spitzer; }),
              Contains(HasSubstr("D33 is above")));
  EXPECT_THAT(warnings_with([](Solution& o) { o.onsager = std::abs(o.d.d31 = -0.9 * o.d.d13); }),
              Contains(HasSubstr("D31 and -D13 differ")));
  EXPECT_THAT(warnings_with([](Solution& o) { o.quality.residual = 1e-5; }),
              Contains(HasSubstr("scaled residual 1.0e-05")));
  EXPECT_THAT(warnings_with([](Solution& o) { o.quality.error.d31 = 0.02 * std::abs(o.d.d31); }),
              Contains(HasSubstr("D31 has lost its digits to rounding: 1 are left")));
  EXPECT_THAT(warnings_with([](Solution& o) { o.quality = {}; }),
              Contains(HasSubstr("no memory to check")));
}

TEST(Quality, WithoutTheWholeSystemTheAnswerIsTheSame) {
  const auto prepared = prepare(builtin_surface("example"), {9, 11, 16});
  const auto whole = solve(prepared, {1e-2, 1e-3});
  const auto three = solve(prepared, {1e-2, 1e-3}, {.whole_system = false});
  EXPECT_EQ(whole.d.d31, three.d.d31);
  EXPECT_FALSE(three.quality.whole);
  EXPECT_GT(lane_bytes(prepared.grid(), Method::kAuto, false, true),
            lane_bytes(prepared.grid(), Method::kAuto, false, false));
}

// `mixed` has returned D11 = 215 here, and `parity` D31 with 7 digits fewer than it seemed.
TEST(Quality, AGenuineSurfaceAtLowCollisionality) {
  const auto file = shared_file("ciemat_qi_s0250.ddkes2.data");
  if (!std::filesystem::exists(file)) {
    GTEST_SKIP() << "no file " << file << ": set ASSAY_SHARED_DATA to the folder that holds it";
  }
  const auto s = read_dkes(file);
  const auto parity = solved(s, {11, 47, 20}, 1e-5, 0),
             mixed = solved(s, {11, 47, 20}, 1e-5, 0, Method::kMixed);
  EXPECT_GE(parity.quality.corrections, 1);
  for (const int digits : correct_digits(parity)) EXPECT_GE(digits, 7);
  EXPECT_NEAR(mixed.d.d11, parity.d.d11, 1e-9 * parity.d.d11);
  EXPECT_NEAR(mixed.d.d31, parity.d.d31, 1e-6 * std::abs(parity.d.d31));
  EXPECT_THAT(parity.warnings, Contains(HasSubstr("n_xi = 20")));
}

}  // namespace
}  // namespace assay::transport
