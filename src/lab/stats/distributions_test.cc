// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/distributions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/error.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Values = std::vector<double>;

// Reference values: SciPy's norm, binom and binomtest(...).proportion_ci().
TEST(Distributions, NormalQuantileInvertsTheCdf) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(0.8), 0.8416212335729143, 1e-14);
  EXPECT_NEAR(normal_quantile(1e-10), -6.361340902404056, 1e-13);
  EXPECT_EQ(normal_quantile(0.5), 0);
  EXPECT_NEAR(normal_cdf(-8), 6.22096057427174e-16, 1e-29);
  for (const double bad : {0.0, 1.0, -1.0, std::nan("")}) {
    EXPECT_THROW(normal_quantile(bad), UserError) << bad;
  }
}

TEST(Distributions, Binomial) {
  EXPECT_NEAR(binomial_cdf(10, 3, 0.2), 0.8791261184, 1e-14);
  EXPECT_NEAR(binomial_cdf(2000, 950, 0.5), 0.013412073120140273, 1e-12);
  EXPECT_NEAR(binomial_cdf(5000, 2, 0.001), 0.1245256541977479, 1e-13);
  EXPECT_EQ(binomial_cdf(5, -1, 0.5), 0);
  EXPECT_EQ(binomial_cdf(5, 5, 0.5), 1);
  EXPECT_EQ(binomial_cdf(5, 0, 0), 1);
  EXPECT_EQ(binomial_cdf(5, 4, 1), 0);
  EXPECT_THROW(binomial_cdf(5, 1, 1.5), UserError);
}

TEST(Distributions, ClopperPearson) {
  const auto some = clopper_pearson(3, 20);
  EXPECT_NEAR(some.low, 0.03207093718554477, 1e-12);
  EXPECT_NEAR(some.high, 0.37892682654529564, 1e-12);
  const auto none = clopper_pearson(0, 10), all = clopper_pearson(10, 10);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 0.30849710781876294, 1e-12);
  EXPECT_NEAR(all.low, 0.6915028921812371, 1e-12);
  EXPECT_EQ(all.high, 1);
  EXPECT_NEAR(clopper_pearson(20, 2000).high, 0.015402125783560783, 1e-12);
  EXPECT_EQ(clopper_pearson(0, 0).high, 1);
  EXPECT_THAT([] { clopper_pearson(3, 2); }, ThrowsMessage<UserError>(HasSubstr("3 of 2")));
}

}  // namespace
}  // namespace assay::lab
