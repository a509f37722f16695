// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/sign_interval.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/error.h"
#include "base/philox.h"

namespace assay::lab {
namespace {

// Exact: C(100, 50) ≈ 1e29 and 1000·2^100 ≈ 1e33 both fit into 128 bits.
Uint128 choose(int n, int k) {
  Uint128 c = 1;
  for (int i = 0; i < k; ++i) c = c * static_cast<unsigned>(n - i) / static_cast<unsigned>(i + 1);
  return c;
}

// The definition, in integers: the largest k with 2000·Σ_{i<k} C(n, i) ≤ alpha_per_mille·2^n.
int rank_by_definition(int n, unsigned alpha_per_mille) {
  int k = 0;
  Uint128 sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += choose(n, i);
    if (2000 * sum > (Uint128{1} << n) * alpha_per_mille) break;
    k = i + 1;
  }
  return k;
}

TEST(SignInterval, RankIsExactFromOneToAHundredRounds) {
  constexpr std::array<std::pair<double, unsigned>, 3> kLevels = {
      {{0.95, 50u}, {0.99, 10u}, {0.999, 1u}}};
  for (const auto& [confidence, alpha] : kLevels) {
    for (int n = 1; n <= 100; ++n) {
      const int k = rank_by_definition(n, alpha);
      EXPECT_EQ(sign_interval_rank(n, confidence).value_or(0), k) << n << " at " << confidence;
      if (k == 0) continue;
      EXPECT_GE(sign_interval_coverage(n, k), confidence);
      if (2 * (k + 1) <= n + 1) {
        EXPECT_LT(sign_interval_coverage(n, k + 1), confidence);
      }
    }
  }
}

// Published values of the sign interval (k for n = 10, 20, 40 at 95 %).
TEST(SignInterval, KnownRanks) {
  EXPECT_EQ(sign_interval_rank(10, 0.95), 2);
  EXPECT_EQ(sign_interval_rank(20, 0.95), 6);
  EXPECT_EQ(sign_interval_rank(40, 0.95), 14);
}

TEST(SignInterval, TooFewRoundsHaveNone) {
  for (const auto& [confidence, least] :
       {std::pair{0.95, 6}, std::pair{0.99, 8}, std::pair{0.999, 11}}) {
    EXPECT_EQ(minimum_rounds(confidence), least);
    EXPECT_EQ(sign_interval_rank(least - 1, confidence), std::nullopt);
    EXPECT_EQ(sign_interval_rank(least, confidence), 1);
  }
  EXPECT_EQ(sign_interval_rank(0, 0.95), std::nullopt);
}

// The threshold itself belongs to the interval: α/2 = 2^−6 is exact in binary.
TEST(SignInterval, EqualityCounts) {
  EXPECT_EQ(sign_interval_rank(6, 1 - 0x1p-5), 1);
  EXPECT_EQ(minimum_rounds(1 - 0x1p-5), 6);
}

TEST(SignInterval, CdfAgreesWithTheIntegers) {
  for (const int n : {1, 2, 7, 53, 100}) {
    Uint128 sum = 0;
    for (int k = 0; k <= n; ++k) {
      sum += choose(n, k);
      const double exact = std::ldexp(static_cast<double>(sum), -n);
      // Each of the k + 1 terms carries at most 2k rounding errors of half an ulp.
      EXPECT_NEAR(fair_binomial_cdf(n, k), exact, exact * (2 * k + 2) * 0x1p-53) << n << " " << k;
    }
  }
  EXPECT_EQ(fair_binomial_cdf(5, -1), 0);
  EXPECT_EQ(fair_binomial_cdf(5, 9), 1);
  EXPECT_EQ(fair_binomial_cdf(0, 0), 1);
}

// Beyond the range of C(n, k) in doubles: half of the mass below the middle, and a rank that
// follows the normal approximation n/2 − 1.96·√n/2 to within one.
TEST(SignInterval, ManyRounds) {
  EXPECT_NEAR(fair_binomial_cdf(100001, 50000), 0.5, 1e-9);
  EXPECT_NEAR(*sign_interval_rank(100000, 0.95), 50000 - 1.959964 * std::sqrt(100000.0) / 2, 1.5);
}

TEST(SignInterval, SenselessConfidenceIsRefused) {
  for (const double confidence : {0.0, 1.0, -1.0, 95.0, std::nan("")}) {
    EXPECT_THROW(sign_interval_rank(10, confidence), UserError) << confidence;
    EXPECT_THROW(minimum_rounds(confidence), UserError) << confidence;
  }
  EXPECT_THROW(sign_interval_rank(-1, 0.95), UserError);
}

}  // namespace
}  // namespace assay::lab
