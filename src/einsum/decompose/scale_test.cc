// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Tensors of any size: every decomposition scales them first (normalized.h).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "einsum/decompose/cp.h"
#include "einsum/decompose/tensor_train.h"
#include "einsum/decompose/tucker.h"
#include "einsum/testing/example_tensors.h"

namespace assay::einsum {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// error_between() whatever the size of the elements.
double scaled_error(const Tensor& x, const Tensor& y) {
  double largest = 0;
  for (std::int64_t i = 0; i < x.element_count(); ++i) {
    largest = std::max(largest, std::abs(value_as_double(x.view(), i)));
  }
  double error = 0, size = 0;
  for (std::int64_t i = 0; i < x.element_count(); ++i) {
    const double a = value_as_double(x.view(), i) / largest,
                 b = value_as_double(y.view(), i) / largest;
    error += (a - b) * (a - b);
    size += a * a;
  }
  return std::sqrt(error / size);
}

TEST(Decompositions, SayTheTrueErrorAtEveryScale) {
  struct Scale {
    DType dtype;
    double scale;
    double digits;  // what rounding of elements alone makes of the error
  };
  // Elements of subnormal tensors are multiples of 2^−1074 and 2^−149: 1e-310 and 1e-41 leave
  // some 40 and 13 bits of them.
  for (const auto& s : {Scale{DType::kF64, 1, 1e-9}, Scale{DType::kF64, 1e-170, 1e-9},
                        Scale{DType::kF64, 1e153, 1e-9}, Scale{DType::kF64, 1e170, 1e-9},
                        Scale{DType::kF64, 1e300, 1e-9}, Scale{DType::kF64, 1e-310, 1e-9},
                        Scale{DType::kF32, 1, 1e-4}, Scale{DType::kF32, 1e-25, 1e-4},
                        Scale{DType::kF32, 1e19, 1e-4}, Scale{DType::kF32, 1e25, 1e-4},
                        Scale{DType::kF32, 1e-41, 5e-3}}) {
    const auto x = scaled_tensor(s.dtype, s.scale), unit = scaled_tensor(s.dtype, 1);
    const auto where = fmt::format("{} times {}", name_of(s.dtype), s.scale);
    const auto c = cp(x.view(), {.rank = 2, .change = 1e-7});
    EXPECT_NEAR(c.relative_error, scaled_error(x, cp_reconstruct(c)), s.digits) << where;
    EXPECT_NEAR(c.relative_error, cp(unit.view(), {.rank = 2, .change = 1e-7}).relative_error,
                10 * s.digits)
        << where;
    for (const auto finder : {RangeFinder::kGram, RangeFinder::kSvd, RangeFinder::kRandomized}) {
      const TuckerOptions o{.ranks = {3, 3, 3}, .finder = finder};
      const auto t = tucker(x.view(), o);
      EXPECT_NEAR(t.relative_error, scaled_error(x, tucker_reconstruct(t)), s.digits) << where;
      EXPECT_NEAR(t.relative_error, tucker(unit.view(), o).relative_error, 10 * s.digits) << where;
    }
    const auto train = tensor_train(x.view(), {.ranks = {3, 3}});
    EXPECT_NEAR(train.relative_error, scaled_error(x, train_reconstruct(train.cores)), s.digits)
        << where;
    EXPECT_NEAR(train.relative_error, tensor_train(unit.view(), {.ranks = {3, 3}}).relative_error,
                10 * s.digits)
        << where;
    const auto smaller = round_train(train.cores, {.ranks = {1, 1}});
    EXPECT_NEAR(
        scaled_error(x, train_reconstruct(smaller.cores)),
        scaled_error(unit, train_reconstruct(tensor_train(unit.view(), {.ranks = {1, 1}}).cores)),
        1e-2)
        << where;
  }
}

TEST(Decompositions, APowerOfTwoChangesNoDigit) {
  const auto unit = scaled_tensor(DType::kF64, 1);
  const CpOptions o{.rank = 3, .max_sweeps = 30};
  const auto expected = cp(unit.view(), o);
  const auto core = tucker(unit.view(), {.ranks = {3, 3, 3}});
  for (const int exponent : {-900, -300, 300, 900}) {
    const auto x = scaled_tensor(DType::kF64, std::ldexp(1.0, exponent));
    const auto c = cp(x.view(), o);
    EXPECT_EQ(c.trace, expected.trace) << exponent;
    EXPECT_EQ(c.weights.as<double>()[0], std::ldexp(expected.weights.as<double>()[0], exponent));
    EXPECT_EQ(error_between(expected.factors[1], c.factors[1]), 0);
    const auto t = tucker(x.view(), {.ranks = {3, 3, 3}});
    EXPECT_EQ(t.relative_error, core.relative_error);
    EXPECT_EQ(t.core.as<double>()[5], std::ldexp(core.core.as<double>()[5], exponent));
  }
}

TEST(Decompositions, RefuseAResultBeyondTheRange) {
  // Every element is the largest float: the norm, which the weight is, has no float.
  Tensor x(DType::kF32, Shape({4, 4, 4}));
  std::ranges::fill(x.as<float>(), std::numeric_limits<float>::max());
  EXPECT_THAT([&] { cp(x.view(), {}); },
              ThrowsMessage<UserError>(HasSubstr("cp: the result has elements beyond the range")));
}

}  // namespace
}  // namespace assay::einsum
