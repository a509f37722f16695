// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/ell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "semiring/matmul.h"
#include "semiring/ref/naive.h"
#include "semiring/ref/reference.h"
#include "semiring/test_tensors.h"

namespace assay::semiring {
namespace {

using testing::ElementsAre;
using testing::IsNan;
using testing::ThrowsMessage;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class EveryEllBackend : public testing::TestWithParam<Backend> {
 protected:
  std::vector<double> ell(Algebra algebra, const Tensor& v, const Tensor& idx, const Tensor& x) {
    Tensor out(x.dtype(), Shape{idx.shape()[0], x.shape()[1]});
    ell_matmul(algebra, v.view(), idx.view(), x.view(), out.mutable_view(), {GetParam()});
    return values(out.view());
  }
  std::vector<double> edges(EdgeReduce reduce, const Tensor& v, const Tensor& idx, const Tensor& x,
                            const Tensor& w) {
    Tensor out(x.dtype(), Shape{idx.shape()[0], w.shape()[0]});
    ell_edge_aggregate(reduce, v.view(), idx.view(), x.view(), w.view(), out.mutable_view(),
                       {GetParam()});
    return values(out.view());
  }
};
ASSAY_ON_BACKENDS(EveryEllBackend);

TEST_P(EveryEllBackend, AggregatesEdgesByHand) {
  const Tensor x = matrix({{1, 0}, {0, 1}, {2, 3}}, DType::kF32);
  const Tensor w = matrix({{1, 1}, {1, -1}, {0, 2}}, DType::kF32);
  // W x = (1,1,0), (1,−1,2), (5,−1,6).
  const Tensor idx = matrix({{0, 2, -1}, {1, 1, 1}, {-1, -1, -1}}, DType::kI32);
  // The weight of an absent slot is not looked at.
  const Tensor v = matrix({{2, 1, kNan}, {1, -1, 3}, {kNan, kInf, 0}}, DType::kF32);
  EXPECT_THAT(edges(EdgeReduce::kSum, v, idx, x, w), ElementsAre(7, 1, 6, 3, -3, 6, 0, 0, 0));
  EXPECT_THAT(edges(EdgeReduce::kMax, v, idx, x, w),
              ElementsAre(5, 2, 6, 3, 1, 6, -kInf, -kInf, -kInf));
}

TEST_P(EveryEllBackend, MultipliesByHandInEveryAlgebra) {
  const Tensor x = matrix({{1, 10}, {2, 20}}, DType::kF64);
  const Tensor idx = matrix({{1, -1, 0}, {-1, -1, -1}}, DType::kI32);
  const Tensor v = matrix({{3, kNan, 4}, {0, 0, 0}}, DType::kF64);
  EXPECT_THAT(ell(Algebra::kReal, v, idx, x), ElementsAre(10, 100, 0, 0));
  EXPECT_THAT(ell(Algebra::kMaxPlus, v, idx, x), ElementsAre(5, 23, -kInf, -kInf));
  EXPECT_THAT(ell(Algebra::kMinPlus, v, idx, x), ElementsAre(5, 14, kInf, kInf));
  // (3−2)² + (4−1)² = 10, (3−20)² + (4−10)² = 325.
  EXPECT_THAT(ell(Algebra::kEuclidean, v, idx, x),
              ElementsAre(std::sqrt(10.0), std::sqrt(325.0), 0, 0));
  const auto logs = ell(Algebra::kLog, v, idx, x);
  EXPECT_DOUBLE_EQ(logs[0], 5 + std::log(2.0));
  EXPECT_DOUBLE_EQ(logs[1], 23 + std::log1p(std::exp(-9.0)));
  EXPECT_EQ(logs[2], -kInf);
  const Tensor bx = matrix({{1, 0}, {0, 1}}, DType::kBool);
  const Tensor bv = matrix({{1, 1, 0}, {1, 1, 1}}, DType::kBool);
  EXPECT_THAT(ell(Algebra::kBoolean, bv, idx, bx), ElementsAre(0, 1, 0, 0));
}

TEST_P(EveryEllBackend, NanPropagatesFromPresentSlotsOnly) {
  const Tensor x = matrix({{kNan, 1}, {2, 3}}, DType::kF32);
  const Tensor w = matrix({{1, 0}, {0, 1}}, DType::kF32);
  const Tensor idx = matrix({{1, 0}, {1, -1}, {0, 1}}, DType::kI32);
  const Tensor v = matrix({{1, 1}, {1, kNan}, {1, 1}}, DType::kF32);
  // Column 1 of W x too: 0 · NaN is NaN.
  EXPECT_THAT(edges(EdgeReduce::kMax, v, idx, x, w),
              ElementsAre(IsNan(), IsNan(), 2, 3, IsNan(), IsNan()));
  for (const Algebra algebra :
       {Algebra::kReal, Algebra::kLog, Algebra::kMaxPlus, Algebra::kMinPlus, Algebra::kEuclidean}) {
    const auto result = ell(algebra, v, idx, x);
    EXPECT_TRUE(std::isnan(result[0]) && std::isnan(result[4])) << name_of(algebra);
    EXPECT_FALSE(std::isnan(result[1]) || std::isnan(result[2]) || std::isnan(result[5]));
  }
}

TEST_P(EveryEllBackend, EmptyExtents) {
  const Tensor none(DType::kI32, {3, 0}), no_weights(DType::kF32, {3, 0});
  const Tensor x = random_tensor(DType::kF32, {4, 2}, 1), w = random_tensor(DType::kF32, {5, 2}, 2);
  EXPECT_EQ(edges(EdgeReduce::kSum, no_weights, none, x, w), std::vector<double>(15, 0));
  EXPECT_EQ(edges(EdgeReduce::kMax, no_weights, none, x, w), std::vector<double>(15, -kInf));
  EXPECT_EQ(ell(Algebra::kMinPlus, no_weights, none, x), std::vector<double>(6, kInf));
  // No rows; no sources, so that every slot is absent; no features, so that W x is 0.
  EXPECT_TRUE(
      ell(Algebra::kReal, Tensor(DType::kF32, {0, 3}), Tensor(DType::kI32, {0, 3}), x).empty());
  const Tensor absent = matrix({{-1, -1}}, DType::kI32), weights(DType::kF32, {1, 2});
  EXPECT_EQ(edges(EdgeReduce::kMax, weights, absent, Tensor(DType::kF32, {0, 2}), w),
            std::vector<double>(5, -kInf));
  const Tensor first = matrix({{0, 1}}, DType::kI32);
  EXPECT_EQ(edges(EdgeReduce::kMax, weights, first, Tensor(DType::kF32, {4, 0}),
                  Tensor(DType::kF32, {5, 0})),
            std::vector<double>(5, 0));
}

TEST_P(EveryEllBackend, LayoutDoesNotChangeTheResult) {
  const Tensor x = random_tensor(DType::kF32, {9, 5}, 1), w = random_tensor(DType::kF32, {4, 5}, 2);
  const Tensor v = random_tensor(DType::kF32, {7, 3}, 3), idx = random_indices(7, 3, 9, 4);
  const Scattered sx(x.view()), sw(w.view()), sv(v.view()), si(idx.view());
  Tensor plain(DType::kF32, {7, 4}), transposed(DType::kF32, {4, 7});
  for (const EdgeReduce reduce : {EdgeReduce::kSum, EdgeReduce::kMax}) {
    ell_edge_aggregate(reduce, v.view(), idx.view(), x.view(), w.view(), plain.mutable_view(),
                       {GetParam()});
    ell_edge_aggregate(reduce, sv.view(), si.view(), sx.view(), sw.view(),
                       transposed.mutable_view().transpose(), {GetParam()});
    EXPECT_TRUE(bitwise_equal(plain.view(), transposed.view().transpose()));
  }
  Tensor a(DType::kF32, {7, 5}), b(DType::kF32, {7, 5});
  ell_matmul(Algebra::kLog, v.view(), idx.view(), x.view(), a.mutable_view(), {GetParam()});
  ell_matmul(Algebra::kLog, sv.view(), si.view(), sx.view(), b.mutable_view(), {GetParam()});
  EXPECT_TRUE(bitwise_equal(a.view(), b.view()));
}

TEST_P(EveryEllBackend, DenseListsEqualTheMatmul) {
  // Every row lists all sources in order: v is then the left matrix.
  Tensor idx(DType::kI32, {6, 11});
  for (int i = 0; i < 66; ++i) idx.as<std::int32_t>()[static_cast<std::size_t>(i)] = i % 11;
  for (const Algebra algebra : kAllAlgebras) {
    const DType dtype = algebra == Algebra::kBoolean ? DType::kBool : DType::kF64;
    const Tensor v = random_tensor(dtype, {6, 11}, 5), x = random_tensor(dtype, {11, 4}, 6);
    Tensor out(dtype, {6, 4});
    ell_matmul(algebra, v.view(), idx.view(), x.view(), out.mutable_view(), {GetParam()});
    const Tensor dense = matmul(algebra, v.view(), x.view(), {GetParam()});
    const bool other_route = GetParam() == Backend::kSimd &&
                             (algebra == Algebra::kLog || algebra == Algebra::kEuclidean);
    if (!other_route) {
      EXPECT_TRUE(bitwise_equal(out.view(), dense.view())) << name_of(algebra);
      continue;
    }
    // Dense, these two take a route of their own: results below 8, some 40 roundings on each side.
    for (std::int64_t i = 0; i < 24; ++i) {
      EXPECT_NEAR(value_as_double(out.view(), i), value_as_double(dense.view(), i),
                  80 * 8 * 0x1p-53);
    }
  }
}

TEST(Ell, NaiveAgreesWithTheReference) {
  constexpr std::int64_t kRows = 40, kSlots = 16, kSources = 30, kIn = 33, kOut = 17;
  const Tensor idx = random_indices(kRows, kSlots, kSources, 7);
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    const Tensor x = random_tensor(dtype, {kSources, kIn}, 1);
    const Tensor w = random_tensor(dtype, {kOut, kIn}, 2);
    const Tensor v = random_tensor(dtype, {kRows, kSlots}, 3);
    for (const EdgeReduce reduce : {EdgeReduce::kSum, EdgeReduce::kMax}) {
      const EdgeProblem problem = edge_problem(reduce, v.view(), idx.view(), x.view(), w.view());
      const Tensor naive = naive_ell_edge_aggregate(problem);
      const Tensor reference = reference_ell_edge_aggregate(problem);
      ASSERT_EQ(naive.dtype(), working_dtype(dtype));
      // Inputs are at most √3: |v·W·x| sums to at most slots·in·√3³, rounded slots + in + 2 times
      // on the way (max: in + 2, with one slot). f64: the reference errs as much.
      const double u = naive.dtype() == DType::kF64 ? 2 * 0x1p-53 : 0x1p-24;
      const double slots = reduce == EdgeReduce::kSum ? kSlots : 1;
      const double tolerance = 1.01 * (slots + kIn + 2) * u * slots * kIn * std::pow(3.0, 1.5);
      for (std::int64_t i = 0; i < naive.element_count(); ++i) {
        const double expected = value_as_double(reference.view(), i);
        if (i < kOut) {  // row 0 has no neighbours
          ASSERT_EQ(expected, reduce == EdgeReduce::kSum ? 0 : -kInf);
          ASSERT_EQ(value_as_double(naive.view(), i), expected);
        } else {
          ASSERT_NEAR(value_as_double(naive.view(), i), expected, tolerance);
        }
      }
    }
  }
}

TEST(Ell, SampledRowsAreThoseOfTheWhole) {
  const std::vector<std::int64_t> rows = {19, 0, 7, 7};
  const Tensor idx = random_indices(20, 5, 50, 7);
  const Tensor x = random_tensor(DType::kF32, {50, 6}, 1),
               w = random_tensor(DType::kF32, {3, 6}, 2);
  const Tensor v = random_tensor(DType::kF32, {20, 5}, 3);
  const auto compare = [&](const Tensor& part, const Tensor& whole) {
    ASSERT_EQ(part.shape()[0], 4);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      EXPECT_TRUE(bitwise_equal(part.view().select(0, static_cast<std::int64_t>(r)),
                                whole.view().select(0, rows[r])));
    }
  };
  for (const EdgeReduce reduce : {EdgeReduce::kSum, EdgeReduce::kMax}) {
    const EdgeProblem p = edge_problem(reduce, v.view(), idx.view(), x.view(), w.view());
    compare(reference_ell_edge_aggregate_rows(p, rows), reference_ell_edge_aggregate(p));
    const std::vector<std::int64_t> outside = {20};
    EXPECT_THROW(reference_ell_edge_aggregate_rows(p, outside), InternalError);
  }
  for (const Algebra algebra : {Algebra::kReal, Algebra::kLog, Algebra::kEuclidean}) {
    const EllProblem p = ell_problem(algebra, v.view(), idx.view(), x.view());
    compare(reference_ell_matmul_rows(algebra, p, rows), reference_ell_matmul(algebra, p));
  }
}

TEST(Ell, RefusesWhatDoesNotFit) {
  const Tensor x(DType::kF32, {10, 4}), w(DType::kF32, {3, 4}), v(DType::kF32, {2, 3});
  Tensor out(DType::kF32, {2, 3});
  Tensor idx(DType::kI32, {2, 3});
  const auto aggregate = [&](const Tensor& weights, const Tensor& indices, const Tensor& matrix_w) {
    ell_edge_aggregate(EdgeReduce::kSum, weights.view(), indices.view(), x.view(), matrix_w.view(),
                       out.mutable_view());
  };
  EXPECT_NO_THROW(aggregate(v, idx, w));
  for (const int bad : {10, -2, 2147483647, -2147483647}) {
    idx.as<std::int32_t>()[5] = bad;
    EXPECT_THAT([&] { aggregate(v, idx, w); },
                ThrowsMessage<UserError>("sum ell_edge_aggregate: idx in row 1, slot 2 is neither "
                                         "-1 nor a row of x (10): " +
                                         std::to_string(bad)));
    Tensor features(DType::kF32, {2, 4});
    EXPECT_THROW(ell_matmul(Algebra::kLog, v.view(), idx.view(), x.view(), features.mutable_view()),
                 UserError);
  }
  idx.as<std::int32_t>()[5] = 9;
  EXPECT_THAT(
      [&] {
        aggregate(Tensor(DType::kF32, {2, 2}), idx, w);
      },
      ThrowsMessage<UserError>("sum ell_edge_aggregate: expected v and idx of one shape "
                               "(rows, slots) and x (sources, features), got 2x2, 2x3 and "
                               "10x4"));
  EXPECT_THAT(
      [&] {
        aggregate(v, idx, Tensor(DType::kF32, {3, 5}));
      },
      ThrowsMessage<UserError>(
          "sum ell_edge_aggregate: w of shape 3x5 does not fit x of shape 10x4"));
  EXPECT_THAT(
      [&] {
        aggregate(v, Tensor(DType::kI64, {2, 3}), w);
      },
      ThrowsMessage<UserError>("sum ell_edge_aggregate: idx must be i32, got i64"));
  EXPECT_THROW(aggregate(Tensor(DType::kF64, {2, 3}), idx, w), UserError);
  EXPECT_THROW(aggregate(v, idx, Tensor(DType::kF64, {3, 4})), UserError);
  EXPECT_THROW(aggregate(v, idx, Tensor(DType::kF32, {2, 4})), UserError);  // out has three columns
  EXPECT_THAT([] { edge_reduce_from_name("mean", "--reduce"); },
              ThrowsMessage<UserError>("--reduce: expected sum or max, got 'mean'"));
}

}  // namespace
}  // namespace assay::semiring
