// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/tucker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "einsum/testing/example_tensors.h"

namespace assay::einsum {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct TuckerErrors {
  std::int64_t n, rank;
  double hosvd, sthosvd, hooi;
};

TEST(Tucker, EqualsTheKnownErrors) {
  // Eleven digits are known; the errors themselves are 1 − ‖G‖²/‖X‖² and lose up to six of sixteen.
  for (const auto& row : {TuckerErrors{8, 2, 3.1201645797e-2, 3.1198613116e-2, 3.1196238715e-2},
                          TuckerErrors{8, 3, 2.6444336659e-3, 2.6443084230e-3, 2.6442134513e-3},
                          TuckerErrors{20, 1, 2.6449942742e-1, 2.6400539466e-1, 2.6362456050e-1}}) {
    const auto x = hilbert(row.n);
    TuckerOptions o{.ranks = {row.rank, row.rank, row.rank}};
    const auto error = [&](TuckerMethod method) {
      o.method = method;
      const auto d = tucker(x.view(), o);
      EXPECT_NEAR(d.relative_error, error_between(x, tucker_reconstruct(d)), 1e-10);
      return d.relative_error;
    };
    EXPECT_NEAR(error(TuckerMethod::kHosvd), row.hosvd, 1e-9 * row.hosvd);
    EXPECT_NEAR(error(TuckerMethod::kStHosvd), row.sthosvd, 1e-9 * row.sthosvd);
    EXPECT_NEAR(error(TuckerMethod::kHooi), row.hooi, 1e-9 * row.hooi);
  }
}

TEST(Tucker, RangeFindersAgree) {
  const auto x = hilbert(12);
  for (const auto finder : {RangeFinder::kGram, RangeFinder::kSvd, RangeFinder::kRandomized}) {
    const auto d =
        tucker(x.view(), {.method = TuckerMethod::kStHosvd, .ranks = {4, 4, 4}, .finder = finder});
    const auto exact =
        tucker(x.view(),
               {.method = TuckerMethod::kStHosvd, .ranks = {4, 4, 4}, .finder = RangeFinder::kSvd});
    EXPECT_NEAR(d.relative_error, exact.relative_error, 1e-3 * exact.relative_error);
  }
}

TEST(Tucker, RanksAboveTheOtherExtents) {
  // Mode 0 has rank 5, but its unfolding has two columns, and in HOOI the core's rest has one.
  Tensor x(DType::kF64, Shape({7, 2, 1}));
  fill_uniform(x.mutable_view(), Philox(4), -1, 1);
  for (const auto finder : {RangeFinder::kGram, RangeFinder::kSvd, RangeFinder::kRandomized}) {
    for (const auto method : {TuckerMethod::kHosvd, TuckerMethod::kStHosvd, TuckerMethod::kHooi}) {
      const auto full = tucker(x.view(), {.method = method, .ranks = {5, 2, 1}, .finder = finder});
      EXPECT_LT(error_between(x, tucker_reconstruct(full)), 1e-12);
      const auto cut = tucker(x.view(), {.method = method, .ranks = {5, 1, 1}, .finder = finder});
      EXPECT_NEAR(error_between(x, tucker_reconstruct(cut)), cut.relative_error, 1e-12);
      const auto u = cut.factors[0].view();
      for (std::int64_t a = 0; a < 5; ++a) {  // orthonormal, to rounding
        for (std::int64_t b = 0; b < 5; ++b) {
          double product = 0;
          for (std::int64_t i = 0; i < 7; ++i) product += u.at<double>(i, a) * u.at<double>(i, b);
          EXPECT_NEAR(product, a == b ? 1 : 0, 1e-13);
        }
      }
    }
  }
}

TEST(Tucker, KeepsToItsTolerance) {
  const auto x = hilbert(16);
  for (const double tolerance : {1e-1, 1e-3, 1e-6, 1e-7, 2e-8, 1e-10}) {
    const auto d = tucker(x.view(), {.tolerance = tolerance});
    EXPECT_LE(error_between(x, tucker_reconstruct(d)), tolerance * (1 + 1e-6)) << tolerance;
  }
}

TEST(Tucker, RanksAreTheMostBesideATolerance) {
  const auto x = hilbert(8);
  for (const auto method : {TuckerMethod::kHosvd, TuckerMethod::kStHosvd, TuckerMethod::kHooi}) {
    const auto shape_of = [&](TuckerOptions options) {
      options.method = method;
      return tucker(x.view(), options).core.shape();
    };
    const auto found = shape_of({.tolerance = 1e-2});
    ASSERT_LT(found[0], 5);
    EXPECT_EQ(shape_of({.ranks = {5, 5, 5}, .tolerance = 1e-2}), found);
    EXPECT_EQ(shape_of({.ranks = {2, 2, 2}, .tolerance = 1e-12}), Shape({2, 2, 2}));
  }
}

TEST(Tucker, SaysWhatItCannotDo) {
  const auto x = hilbert(3);
  EXPECT_THAT([&] { tucker(x.view(), {}); }, ThrowsMessage<UserError>(HasSubstr("neither")));
  EXPECT_THAT(
      [&] {
        tucker(x.view(), {.ranks = {2, 2}});
      },
      ThrowsMessage<UserError>(HasSubstr("2 ranks for a tensor of 3 modes")));
  EXPECT_THAT(
      [&] {
        tucker(x.view(), {.ranks = {2, 4, 2}});
      },
      ThrowsMessage<UserError>(HasSubstr("mode 1 is from 1 to its extent 3, not 4")));
}

}  // namespace
}  // namespace assay::einsum
