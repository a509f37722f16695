// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/algebra.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace assay::semiring {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename A>
auto reduced(const std::vector<typename A::Value>& terms) {
  auto state = A::zero();
  for (const auto term : terms) state = A::plus(state, term);
  return A::finish(state);
}

TEST(Algebra, NamesComeBackAndErrorsListThem) {
  for (const Algebra algebra : kAllAlgebras) {
    EXPECT_EQ(algebra_from_name(name_of(algebra), "t"), algebra);
  }
  EXPECT_THAT([] { algebra_from_name("tropical", "--algebra"); },
              testing::ThrowsMessage<UserError>(
                  "--algebra: expected an algebra (real, log, max_plus, min_plus, euclidean, "
                  "boolean), got 'tropical'"));
}

TEST(Algebra, MaximaAndMinimaKeepNanOnEitherSide) {
  EXPECT_EQ(max_or_nan(1.0, 2.0), 2.0);
  EXPECT_EQ(min_or_nan(1.0, 2.0), 1.0);
  for (const double x : {0.0, kInf, -kInf}) {
    EXPECT_TRUE(std::isnan(max_or_nan(kNan, x)) && std::isnan(max_or_nan(x, kNan)));
    EXPECT_TRUE(std::isnan(min_or_nan(kNan, x)) && std::isnan(min_or_nan(x, kNan)));
  }
}

TEST(Algebra, NothingReducesToZeroOfPlus) {
  EXPECT_EQ(reduced<Real<double>>({}), 0.0);
  EXPECT_EQ(reduced<Log<double>>({}), -kInf);
  EXPECT_EQ(reduced<MaxPlus<double>>({}), -kInf);
  EXPECT_EQ(reduced<MinPlus<double>>({}), kInf);
  EXPECT_EQ(reduced<Euclidean<double>>({}), 0.0);
  EXPECT_EQ(reduced<Boolean>({}), false);
}

template <typename A>
class NumericAlgebra : public testing::Test {};
using Numeric = testing::Types<Real<double>, Log<double>, MaxPlus<double>, MinPlus<double>,
                               Euclidean<double>, Log<float>, MaxPlus<float>>;
TYPED_TEST_SUITE(NumericAlgebra, Numeric);

TYPED_TEST(NumericAlgebra, NanPropagatesFromEveryPosition) {
  using T = typename TypeParam::Value;
  const auto inf = std::numeric_limits<T>::infinity();
  const auto nan = std::numeric_limits<T>::quiet_NaN();
  for (std::vector<T> terms : {std::vector<T>{1, 2, 3},
                               {inf, inf, inf},
                               {-inf, -inf, -inf},
                               {3, inf, -inf},
                               {-inf, 0, inf}}) {
    for (std::size_t at = 0; at < 3; ++at) {
      auto with_nan = terms;
      with_nan[at] = nan;
      EXPECT_TRUE(std::isnan(reduced<TypeParam>(with_nan))) << at;
    }
  }
}

TYPED_TEST(NumericAlgebra, AbsentTermsChangeNothing) {
  using T = typename TypeParam::Value;
  const T absent = TypeParam::kAbsent;
  EXPECT_EQ(reduced<TypeParam>({1, 2}), reduced<TypeParam>({absent, 1, absent, 2, absent}));
  EXPECT_EQ(reduced<TypeParam>({absent, absent}), reduced<TypeParam>({}));
}

TEST(Algebra, LogIsExactForInfinitiesAndFarTerms) {
  using L = Log<double>;
  EXPECT_EQ(reduced<L>({-kInf, -kInf}), -kInf);
  EXPECT_EQ(reduced<L>({-kInf, 5, -kInf}), 5.0);
  EXPECT_EQ(reduced<L>({5, kInf, 7}), kInf);
  EXPECT_EQ(reduced<L>({kInf, kInf, -kInf}), kInf);
  EXPECT_EQ(reduced<L>({1000}), 1000.0);    // exp(1000) overflows
  EXPECT_EQ(reduced<L>({-1000}), -1000.0);  // exp(-1000) underflows
  EXPECT_DOUBLE_EQ(reduced<L>({-1000, -1000}), -1000 + std::log(2.0));
  EXPECT_EQ(reduced<L>({0, -1000}), 0.0);
  // Any order: log(1 + 2 + 3 + 4), rescaled on the way at most three times, each time with at most
  // three roundings of relative size 2^-53 beside the final logarithm.
  std::vector<double> terms = {std::log(1.0), std::log(2.0), std::log(3.0), std::log(4.0)};
  do {
    EXPECT_NEAR(reduced<L>(terms), std::log(10.0), 16 * 0x1p-53 * std::log(10.0));
  } while (std::next_permutation(terms.begin(), terms.end()));
}

TEST(Algebra, EuclideanFinishesNegativeSumsAtZero) {
  EXPECT_EQ(Euclidean<double>::finish(-1e-20), 0.0);
  EXPECT_EQ(Euclidean<double>::finish(9.0), 3.0);
  EXPECT_TRUE(std::isnan(Euclidean<double>::finish(kNan)));
}

TEST(Algebra, BooleanIsAnyOfAll) {
  EXPECT_TRUE(Boolean::times(true, true));
  EXPECT_FALSE(Boolean::times(true, false));
  EXPECT_TRUE(reduced<Boolean>({false, true, false}));
  EXPECT_THROW(visit_algebra<bool>(Algebra::kReal, [](auto) {}), InternalError);
  EXPECT_THROW(visit_algebra<float>(Algebra::kBoolean, [](auto) {}), InternalError);
}

}  // namespace
}  // namespace assay::semiring
