// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/matmul.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "semiring/test_tensors.h"

namespace assay::semiring {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class EveryBackend : public testing::TestWithParam<Backend> {
 protected:
  MatmulOptions options() const { return {GetParam()}; }
};
ASSAY_ON_BACKENDS(EveryBackend);

TEST_P(EveryBackend, ComputesByHand) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const Tensor a = matrix({{1, 2}, {3, 4}}, dtype), b = matrix({{5, 6}, {7, 8}}, dtype);
    const auto result = [&](Algebra algebra) {
      const Tensor out = matmul(algebra, a.view(), b.view(), options());
      EXPECT_EQ(out.dtype(), dtype);
      return values(out.view());
    };
    EXPECT_THAT(result(Algebra::kReal), ElementsAre(19, 22, 43, 50));
    EXPECT_THAT(result(Algebra::kMaxPlus), ElementsAre(9, 10, 11, 12));
    EXPECT_THAT(result(Algebra::kMinPlus), ElementsAre(6, 7, 8, 9));
    // √(4²+5²), √(5²+6²), √(2²+3²), √(3²+4²), each correctly rounded after an exact sum.
    const auto root = [&](double x) {
      return dtype == DType::kF32 ? double{std::sqrt(static_cast<float>(x))} : std::sqrt(x);
    };
    EXPECT_THAT(result(Algebra::kEuclidean), ElementsAre(root(41), root(61), root(13), 5));
    // Differences of 3 between the two terms: 9 + log(1 + e^-3) and so on.
    const double tail = std::log1p(std::exp(-3.0));
    // exp, sum, log and the last addition: four roundings of results below 13.
    const double tolerance = 4 * 13 * (dtype == DType::kF32 ? 0x1p-24 : 0x1p-53);
    const auto logs = result(Algebra::kLog);
    for (int i = 0; i < 4; ++i)
      EXPECT_NEAR(logs[static_cast<std::size_t>(i)], 9 + i + tail, tolerance);
  }
  const Tensor p = matrix({{1, 0, 0}, {0, 1, 1}}, DType::kBool);
  const Tensor q = matrix({{0, 1}, {0, 0}, {1, 0}}, DType::kBool);
  EXPECT_THAT(values(matmul(Algebra::kBoolean, p.view(), q.view(), options()).view()),
              ElementsAre(0, 1, 1, 0));
}

TEST_P(EveryBackend, EmptyExtentsGiveTheZeroOfPlus) {
  const double inf = INFINITY;
  const std::pair<Algebra, double> zeros[] = {{Algebra::kReal, 0},       {Algebra::kLog, -inf},
                                              {Algebra::kMaxPlus, -inf}, {Algebra::kMinPlus, inf},
                                              {Algebra::kEuclidean, 0},  {Algebra::kBoolean, 0}};
  for (const auto& [algebra, zero] : zeros) {
    const DType dtype = algebra == Algebra::kBoolean ? DType::kBool : DType::kF32;
    const Tensor a(dtype, {2, 0}), b(dtype, {0, 3});
    const Tensor out = matmul(algebra, a.view(), b.view(), options());
    EXPECT_EQ(values(out.view()), std::vector<double>(6, zero)) << name_of(algebra);
    for (const auto& [m, k, n] : {std::tuple{0, 3, 2}, {2, 3, 0}, {0, 0, 0}, {0, 3, 0}}) {
      const Tensor x(dtype, Shape{m, k}), y(dtype, Shape{k, n});
      EXPECT_EQ(matmul(algebra, x.view(), y.view(), options()).shape(), Shape({m, n}));
    }
    const Tensor no_batches(dtype, {0, 2, 3}), one(dtype, {3, 2});
    EXPECT_EQ(matmul(algebra, no_batches.view(), one.view(), options()).shape(), Shape({0, 2, 2}));
  }
}

TEST_P(EveryBackend, NanInfinitiesAndDenormals) {
  const double inf = INFINITY, nan = NAN;
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const auto result = [&](Algebra algebra, const Tensor& a, const Tensor& b) {
      return values(matmul(algebra, a.view(), b.view(), options()).view());
    };
    // Row 0 holds a NaN, row 1 is all −∞, row 2 holds one −∞, row 3 holds +∞.
    const Tensor a = matrix({{1, nan, 2}, {-inf, -inf, -inf}, {-inf, 3, 4}, {inf, 0, 1}}, dtype);
    const Tensor b = matrix({{0, 1}, {0, 1}, {0, 1}}, dtype);
    const auto is_nan = testing::IsNan();
    EXPECT_THAT(result(Algebra::kMaxPlus, a, b),
                ElementsAre(is_nan, is_nan, -inf, -inf, 4, 5, inf, inf));
    EXPECT_THAT(result(Algebra::kMinPlus, a, b),
                ElementsAre(is_nan, is_nan, -inf, -inf, -inf, -inf, 0, 1));
    const auto logs = result(Algebra::kLog, a, b);
    EXPECT_TRUE(std::isnan(logs[0]) && std::isnan(logs[1]));
    EXPECT_EQ(logs[2], -inf);
    EXPECT_EQ(logs[3], -inf);
    // 4 + log(1 + e^-1): three roundings of results below 5.
    EXPECT_NEAR(logs[4], 4 + std::log1p(std::exp(-1.0)),
                3 * 5 * (dtype == DType::kF32 ? 0x1p-24 : 0x1p-53));
    EXPECT_EQ(logs[6], inf);
    const auto reals = result(Algebra::kReal, a, b);
    EXPECT_TRUE(std::isnan(reals[1]));
    EXPECT_TRUE(std::isnan(reals[2]));  // −∞ · 0
    EXPECT_EQ(reals[3], -inf);
    const auto distances = result(Algebra::kEuclidean, a, b);
    EXPECT_TRUE(std::isnan(distances[0]));
    EXPECT_EQ(distances[2], inf);
    // Opposite infinities meet.
    const Tensor plus = matrix({{inf}}, dtype), minus = matrix({{-inf}}, dtype);
    for (const Algebra algebra : {Algebra::kLog, Algebra::kMaxPlus, Algebra::kMinPlus}) {
      EXPECT_THAT(result(algebra, plus, minus), ElementsAre(is_nan));
    }
    EXPECT_THAT(result(Algebra::kEuclidean, plus, plus), ElementsAre(is_nan));
    EXPECT_THAT(result(Algebra::kEuclidean, plus, minus), ElementsAre(inf));
    // The smallest denormal is neither flushed nor rounded away.
    const double tiny = dtype == DType::kF32 ? 0x1p-149 : 0x1p-1074;
    const Tensor small = matrix({{tiny}}, dtype), one = matrix({{1}}, dtype);
    const Tensor zero = matrix({{0}}, dtype);
    EXPECT_THAT(result(Algebra::kReal, small, one), ElementsAre(tiny));
    EXPECT_THAT(result(Algebra::kMaxPlus, small, zero), ElementsAre(tiny));
    EXPECT_THAT(result(Algebra::kMinPlus, small, zero), ElementsAre(tiny));
    EXPECT_THAT(result(Algebra::kLog, small, zero), ElementsAre(tiny));
  }
}

TEST_P(EveryBackend, LayoutDoesNotChangeTheResult) {
  for (const Algebra algebra : kAllAlgebras) {
    const DType dtype = algebra == Algebra::kBoolean ? DType::kBool : DType::kF32;
    const Tensor a = random_tensor(dtype, {5, 7}, 1), b = random_tensor(dtype, {7, 3}, 2);
    const Tensor expected = matmul(algebra, a.view(), b.view(), options());
    const Scattered sa(a.view()), sb(b.view());
    EXPECT_TRUE(
        bitwise_equal(matmul(algebra, sa.view(), sb.view(), options()).view(), expected.view()));
    // Column-major inputs and a transposed, strided output.
    const Tensor at = Tensor::copy(a.view().transpose()), bt = Tensor::copy(b.view().transpose());
    Tensor wide(dtype, {3, 10});
    const auto out = wide.mutable_view().slice(1, 0, 10, 2).transpose();
    matmul(algebra, at.view().transpose(), bt.view().transpose(), out, options());
    EXPECT_TRUE(bitwise_equal(out, expected.view())) << name_of(algebra);
    for (std::int64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(value_as_double(wide.view(), 10 * i + 1), 0);  // the gaps are untouched
    }
    // Backwards: negative strides reverse the rows of a and so of the result.
    const std::size_t last = size_of(dtype) * 4 * 7;
    const TensorView reversed(dtype, a.bytes().data() + last, a.shape(), {-7, 1});
    const Tensor flipped = matmul(algebra, reversed, b.view(), options());
    EXPECT_TRUE(bitwise_equal(flipped.view().select(0, 0), expected.view().select(0, 4)));
  }
}

TEST_P(EveryBackend, BatchedEqualsSingle) {
  for (const Algebra algebra : kAllAlgebras) {
    const DType dtype = algebra == Algebra::kBoolean ? DType::kBool : DType::kF64;
    const Tensor a = random_tensor(dtype, {2, 3, 4, 5}, 3), b = random_tensor(dtype, {3, 5, 2}, 4);
    const Tensor out = matmul(algebra, a.view(), b.view(), options());
    ASSERT_EQ(out.shape(), Shape({2, 3, 4, 2}));
    for (std::int64_t i = 0; i < 2; ++i) {
      for (std::int64_t j = 0; j < 3; ++j) {
        const Tensor single =
            matmul(algebra, a.view().select(0, i).select(0, j), b.view().select(0, j), options());
        EXPECT_TRUE(bitwise_equal(out.view().select(0, i).select(0, j), single.view()));
      }
    }
    // Extents of 1 repeat.
    const Tensor c = random_tensor(dtype, {2, 1, 1, 5}, 5);
    EXPECT_EQ(matmul(algebra, c.view(), b.view(), options()).shape(), Shape({2, 3, 1, 2}));
  }
}

TEST_P(EveryBackend, ShortFloatsAccumulateWider) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    // 4096 ones: f16 would stop at 2048, bf16 at 256.
    Tensor ones(dtype, {1, 4096});
    fill_uniform(ones.mutable_view(), Philox(1), 1, 1);
    const TensorView row = ones.view(), column = ones.view().transpose();
    EXPECT_THAT(values(matmul(Algebra::kReal, row, column, options()).view()), ElementsAre(4096));
    Tensor wide(DType::kF32, {1, 1});
    matmul(Algebra::kReal, row, column, wide.mutable_view(), options());
    EXPECT_THAT(values(wide.view()), ElementsAre(4096));
    // log Σ e² over 4096 terms = 2 + log 4096 = 10.3178: in f32 within 4096 + 16 roundings of
    // 2^-24.
    matmul(Algebra::kLog, row, column, wide.mutable_view(), options());
    EXPECT_NEAR(wide.as<float>()[0], 2 + std::log(4096.0), (4096 + 16) * 0x1p-24);
    EXPECT_THAT(values(matmul(Algebra::kEuclidean, row, column, options()).view()), ElementsAre(0));
    EXPECT_THAT([&] { matmul(Algebra::kMaxPlus, row, column, options()); },
                ThrowsMessage<UserError>("max_plus matmul takes f32 or f64, got " +
                                         std::string(name_of(dtype))));
  }
}

TEST(Matmul, RefusesWhatDoesNotFit) {
  const Tensor a(DType::kF32, {3, 4}), b(DType::kF32, {5, 6}), batches(DType::kF32, {2, 4, 5});
  const Tensor others(DType::kF32, {3, 5, 4}), row(DType::kF32, {4}), d(DType::kF64, {4, 6});
  const Tensor i(DType::kI32, {4, 4}), c(DType::kC64, {4, 4}), bits(DType::kBool, {4, 4});
  const auto refusal = [](Algebra algebra, const Tensor& x, const Tensor& y) {
    try {
      matmul(algebra, x.view(), y.view());
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal(Algebra::kLog, a, b),
            "log matmul: shapes 3x4 and 5x6 do not fit: 4 columns against 5 rows");
  EXPECT_EQ(refusal(Algebra::kReal, a, row),
            "real matmul: expected matrices, got shapes 3x4 and 4");
  EXPECT_EQ(refusal(Algebra::kReal, batches, others),
            "real matmul: batches of shapes 2x4x5 and 3x5x4 do not fit: 2 against 3");
  EXPECT_EQ(refusal(Algebra::kReal, a, d), "real matmul: different dtypes, f32 and f64");
  EXPECT_EQ(refusal(Algebra::kReal, i, i), "real matmul takes f16, bf16, f32 or f64, got i32");
  EXPECT_EQ(refusal(Algebra::kEuclidean, c, c),
            "euclidean matmul takes f16, bf16, f32 or f64, got c64");
  EXPECT_EQ(refusal(Algebra::kLog, bits, bits), "log matmul takes f16, bf16, f32 or f64, got bool");
  EXPECT_EQ(refusal(Algebra::kBoolean, a, Tensor(DType::kF32, {4, 1})),
            "boolean matmul takes bool, got f32");
  const Tensor fits(DType::kF32, {4, 6});
  Tensor wrong(DType::kF32, {6, 3}), narrow(DType::kF16, {3, 6});
  EXPECT_THAT([&] { matmul(Algebra::kReal, a.view(), fits.view(), wrong.mutable_view()); },
              ThrowsMessage<UserError>("real matmul: the output has shape 6x3, expected 3x6"));
  EXPECT_THAT([&] { matmul(Algebra::kReal, a.view(), fits.view(), narrow.mutable_view()); },
              ThrowsMessage<UserError>("real matmul: the output of f32 inputs cannot be f16"));
}

TEST(Matmul, RefusesAnOutputThatIsReadOrWrittenTwice) {
  Tensor a(DType::kF64, {4, 4}), b(DType::kF64, {4, 4}), row(DType::kF64, {4});
  const auto into = [&](const MutableTensorView& out) {
    matmul(Algebra::kMaxPlus, a.view(), b.view(), out, {.backend = Backend::kSimd});
  };
  const auto says = [](const char* what) { return ThrowsMessage<UserError>(HasSubstr(what)); };
  EXPECT_THAT([&] { into(a.mutable_view()); }, says("the output shares memory with a"));
  EXPECT_THAT([&] { into(b.mutable_view().transpose()); }, says("the output shares memory with b"));
  EXPECT_THAT(
      [&] {
        into({DType::kF64, row.mutable_view().raw_data(), {4, 4}, {0, 1}});
      },
      says("max_plus matmul: elements of the output overlap: an axis has stride 0"));
}

TEST(BatchLoops, AreAsFewAsTheStridesAllow) {
  const auto loops_of = [](const TensorView& a, const TensorView& b) {
    const auto problem = matmul_problem(Algebra::kReal, a, b);
    const Tensor out(DType::kF64, problem.out_shape());
    return batch_loops(problem, out.view());
  };
  const Tensor one(DType::kF64, Shape{3, 4}), other(DType::kF64, Shape{4, 5});
  EXPECT_TRUE(loops_of(one.view(), other.view()).empty());
  const Tensor a(DType::kF64, Shape{6, 7, 3, 4}), b(DType::kF64, Shape{6, 7, 4, 5});
  EXPECT_THAT(loops_of(a.view(), b.view()), ElementsAre(BatchLoop{42, 12, 20, 15}));
  EXPECT_THAT(loops_of(a.view(), other.view()), ElementsAre(BatchLoop{42, 12, 0, 15}));
  // Axes of a that change places with those of b, and one that b does not have.
  const std::size_t order[] = {1, 0, 2, 3};
  const Tensor turned(DType::kF64, Shape{7, 6, 4, 5}), rows(DType::kF64, Shape{7, 4, 5});
  EXPECT_THAT(loops_of(a.view(), turned.view().permute(order)),
              ElementsAre(BatchLoop{6, 84, 20, 105}, BatchLoop{7, 12, 120, 15}));
  EXPECT_THAT(loops_of(a.view(), rows.view()),
              ElementsAre(BatchLoop{6, 84, 0, 105}, BatchLoop{7, 12, 20, 15}));
  const Tensor many(DType::kF64, Shape{9, 2, 1, 3, 4});
  EXPECT_THAT(loops_of(many.view().slice(1, 0, 1), other.view()),
              ElementsAre(BatchLoop{9, 24, 0, 15}));
}

TEST(Matmul, IsTheSameFromRunToRun) {
  const Tensor a = random_tensor(DType::kF32, {9, 33}, 1),
               b = random_tensor(DType::kF32, {33, 9}, 2);
  for (const Backend backend : {Backend::kReference, Backend::kNaive}) {
    for (const Algebra algebra : {Algebra::kReal, Algebra::kLog, Algebra::kEuclidean}) {
      EXPECT_TRUE(bitwise_equal(matmul(algebra, a.view(), b.view(), {backend}).view(),
                                matmul(algebra, a.view(), b.view(), {backend}).view()));
    }
  }
}

}  // namespace
}  // namespace assay::semiring
