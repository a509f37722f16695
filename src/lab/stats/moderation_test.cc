// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/moderation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "lab/stats/random.h"

namespace assay::lab {
namespace {

// Variances of `count` normal values each, the rows' true σ spread over a factor exp(±spread).
std::vector<RowVariance> draw_rows(int rows, int count, double spread) {
  RandomStream random(1, "rows");
  std::vector<RowVariance> variances;
  for (int i = 0; i < rows; ++i) {
    const double sigma = std::exp(spread * random.normal());
    double sum = 0, squares = 0;
    for (int k = 0; k < count; ++k) {
      const double x = sigma * random.normal();
      sum += x;
      squares += x * x;
    }
    variances.push_back({(squares - sum * sum / count) / (count - 1), count - 1.0});
  }
  return variances;
}

TEST(Moderation, RowsThatAreAlikeLendEachOtherMuch) {
  const auto prior = fit_prior(draw_rows(1000, 6, 0));
  EXPECT_NEAR(prior.variance, 1, 0.15);
  EXPECT_GE(prior.freedom, 10);
}

TEST(Moderation, RowsThatDifferLendLittle) {
  const auto prior = fit_prior(draw_rows(1000, 6, 2));
  EXPECT_LE(prior.freedom, 1.5);
}

TEST(Moderation, AVarianceIsBetweenItsOwnAndTheCommonOne) {
  const VariancePrior prior{4, 5};
  EXPECT_DOUBLE_EQ(prior.moderate({1, 5}), 2.5);
  EXPECT_DOUBLE_EQ(prior.moderate({0, 15}), 1);
  EXPECT_EQ(VariancePrior{}.moderate({3, 5}), 3);
  EXPECT_EQ(VariancePrior{}.moderate({0, 0}), 0);
}

TEST(Moderation, FewRowsAndCoarseClocks) {
  EXPECT_EQ(fit_prior({}).freedom, 0);
  const RowVariance one[] = {{2, 5}};
  EXPECT_EQ(fit_prior(one).freedom, 4);
  const RowVariance nothing[] = {{0, 5}, {0, 5}, {1, 5}};
  EXPECT_EQ(fit_prior(nothing).freedom, 0);  // most have no scatter: none to lend
  const RowVariance unknown[] = {{0, 0}};
  EXPECT_EQ(fit_prior(unknown).freedom, 0);
}

}  // namespace
}  // namespace assay::lab
