// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/grad.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "semiring/test_tensors.h"

namespace assay::semiring {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsNan;
using testing::Pointwise;
using testing::ThrowsMessage;

constexpr Algebra kWithGradients[] = {Algebra::kReal, Algebra::kLog, Algebra::kMaxPlus,
                                      Algebra::kEuclidean};

MatmulGradients gradients(Algebra algebra, const Tensor& a, const Tensor& b, const Tensor& dc,
                          Backend backend = Backend::kReference) {
  const Tensor c = matmul(algebra, a.view(), b.view(), {backend});
  return matmul_gradients(algebra, a.view(), b.view(), c.view(), dc.view(), {backend});
}

TEST(Gradients, ByHand) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const Tensor one = matrix({{1}}, dtype);
    const double e = std::exp(1.0), u = dtype == DType::kF32 ? 0x1p-24 : 0x1p-53;
    // C = 1·3 + 2·4.
    const Tensor a = matrix({{1, 2}}, dtype), b = matrix({{3}, {4}}, dtype);
    auto g = gradients(Algebra::kReal, a, b, one);
    EXPECT_THAT(values(g.a.view()), ElementsAre(3, 4));
    EXPECT_THAT(values(g.b.view()), ElementsAre(1, 2));
    // Terms 4 and 6: the second.
    g = gradients(Algebra::kMaxPlus, a, b, one);
    EXPECT_THAT(values(g.a.view()), ElementsAre(0, 1));
    EXPECT_THAT(values(g.b.view()), ElementsAre(0, 1));
    // Differences −2 and −2, distance √8.
    g = gradients(Algebra::kEuclidean, a, b, one);
    EXPECT_THAT(values(g.a.view()),
                Pointwise(DoubleNear(8 * u), std::vector{-std::sqrt(0.5), -std::sqrt(0.5)}));
    EXPECT_THAT(values(g.b.view()),
                Pointwise(DoubleNear(8 * u), std::vector{std::sqrt(0.5), std::sqrt(0.5)}));
    // Softmax of 4 and 6.
    g = gradients(Algebra::kLog, a, b, one);
    const std::vector softmax = {1 / (1 + e * e), e * e / (1 + e * e)};
    EXPECT_THAT(values(g.a.view()), Pointwise(DoubleNear(32 * u), softmax));
    EXPECT_THAT(values(g.b.view()), Pointwise(DoubleNear(32 * u), softmax));
  }
}

TEST(Gradients, NearDuplicatesWhoseSquaresVanish) {
  // Two points 1e-30 apart, 1e-24 from a third that moves the centre away from both: squares of
  // either are 0 in f32. The direction is (a − b)/|a − b|, here (0.6, 0.8).
  const Tensor a = matrix({{1.0006e-24, 1.0008e-24}, {-1e-24, -1e-24}}, DType::kF32);
  const Tensor b = matrix({{1e-24}, {1e-24}}, DType::kF32);
  const Tensor dc = matrix({{1}, {0}}, DType::kF32);
  const auto g = gradients(Algebra::kEuclidean, a, b, dc);
  // The inputs themselves are rounded: 1e-24·2^-24 in differences of 6e-28 and 8e-28.
  EXPECT_THAT(values(g.a.view()), Pointwise(DoubleNear(1e-3), std::vector{0.6, 0.8, 0.0, 0.0}));
}

TEST(Gradients, TiesZerosAndHoles) {
  const double inf = INFINITY;
  const Tensor ones = matrix({{1, 10}});
  // Ties: the first of three equal terms; all −∞: the first; NaN: the first NaN.
  const Tensor b = matrix({{1, -inf}, {1, -inf}, {1, -inf}});
  auto g = gradients(Algebra::kMaxPlus, matrix({{2, 2, 2}}), b, ones);
  EXPECT_THAT(values(g.a.view()), ElementsAre(11, 0, 0));
  EXPECT_THAT(values(g.b.view()), ElementsAre(1, 10, 0, 0, 0, 0));
  g = gradients(Algebra::kMaxPlus, matrix({{5, NAN, NAN}}), matrix({{0}, {0}, {0}}), matrix({{1}}));
  EXPECT_THAT(values(g.a.view()), ElementsAre(0, 1, 0));
  // Distance 0 has no direction: 0.
  const Tensor same = matrix({{3, 4}});
  g = gradients(Algebra::kEuclidean, same, matrix({{3, 3}, {4, 5}}), ones);
  EXPECT_THAT(values(g.a.view()), ElementsAre(0, -10));
  EXPECT_THAT(values(g.b.view()), ElementsAre(0, 0, 0, 10));
  // A row of −∞ has no terms to move: 0. Holes beside a term take nothing.
  g = gradients(Algebra::kLog, matrix({{-inf, -inf}, {-inf, 3}}), matrix({{0}, {7}}),
                matrix({{1}, {2}}));
  EXPECT_THAT(values(g.a.view()), ElementsAre(0, 0, 0, 2));
  EXPECT_THAT(values(g.b.view()), ElementsAre(0, 2));
  g = gradients(Algebra::kLog, matrix({{NAN, 0}}), matrix({{0}, {0}}), matrix({{1}}));
  EXPECT_THAT(values(g.a.view()), ElementsAre(IsNan(), IsNan()));
}

// Σ dC ∘ matmul(a, b) in f64.
double loss(Algebra algebra, const Tensor& a, const Tensor& b, const Tensor& dc) {
  const Tensor c = matmul(algebra, a.view(), b.view());
  double sum = 0;
  for (std::size_t i = 0; i < c.as<double>().size(); ++i) {
    sum += c.as<double>()[i] * dc.as<double>()[i];
  }
  return sum;
}

TEST(Gradients, EqualFiniteDifferences) {
  for (const Algebra algebra : kWithGradients) {
    for (const Backend backend : {Backend::kReference, Backend::kSimd}) {
      for (const double spread : {1.0, 1e-4}) {  // the second: near duplicates, flat softmax
        Tensor a = random_tensor(DType::kF64, {5, 7}, 1), b = random_tensor(DType::kF64, {7, 6}, 2);
        for (double& x : a.as<double>()) x = 1 + x * spread;
        for (double& x : b.as<double>()) x = 1 + x * spread;
        // Apart from the others, so that the common centre is near neither.
        for (std::int64_t l = 0; l < 7; ++l) {
          a.mutable_view().at<double>(4, l) += 3;
          b.mutable_view().at<double>(l, 5) += 3;
        }
        const Tensor dc = random_tensor(DType::kF64, {5, 6}, 3);
        const MatmulGradients g = gradients(algebra, a, b, dc, backend);
        // Central differences err by h² times a third derivative (at most about 1/spread²) and by
        // roundings of a loss of some ten, 1e-15·10/h.
        const double h = 1e-5 * spread, tolerance = 1e-8 / spread;
        for (Tensor* input : {&a, &b}) {
          const Tensor& gradient = input == &a ? g.a : g.b;
          for (std::size_t i = 0; i < input->as<double>().size(); ++i) {
            double& x = input->as<double>()[i];
            const double before = x;
            x = before + h;
            const double up = loss(algebra, a, b, dc);
            x = before - h;
            const double down = loss(algebra, a, b, dc);
            x = before;
            EXPECT_NEAR(gradient.as<double>()[i], (up - down) / (2 * h), tolerance)
                << name_of(algebra) << " spread " << spread << " element " << i;
          }
        }
      }
    }
  }
}

TEST(Gradients, LogWhereTheMaximaDoNotMeet) {
  // Terms of ordinary size made of factors e^±300: the way of single terms.
  Tensor a = random_tensor(DType::kF32, {4, 6}, 1), b = random_tensor(DType::kF32, {6, 5}, 2);
  for (std::int64_t l = 0; l < 6; ++l) {
    for (std::int64_t i = 0; i < 4; ++i)
      a.mutable_view().at<float>(i, l) += 60.0f * static_cast<float>(l);
    for (std::int64_t j = 0; j < 5; ++j)
      b.mutable_view().at<float>(l, j) -= 60.0f * static_cast<float>(l);
  }
  const Tensor dc = random_tensor(DType::kF32, {4, 5}, 3);
  const MatmulGradients g = gradients(Algebra::kLog, a, b, dc, Backend::kSimd);
  const Tensor wa = Tensor::converted(a.view(), DType::kF64),
               wb = Tensor::converted(b.view(), DType::kF64);
  const Tensor wdc = Tensor::converted(dc.view(), DType::kF64);
  const MatmulGradients expected = gradients(Algebra::kLog, wa, wb, wdc);
  // Exponents are rounded at 300·2^-24, weights are at most 1, five or four of them are added.
  for (std::int64_t i = 0; i < 24; ++i) {
    EXPECT_NEAR(value_as_double(g.a.view(), i), value_as_double(expected.a.view(), i),
                5 * 400 * 0x1p-24);
  }
  for (std::int64_t i = 0; i < 30; ++i) {
    EXPECT_NEAR(value_as_double(g.b.view(), i), value_as_double(expected.b.view(), i),
                5 * 400 * 0x1p-24);
  }
}

TEST(Gradients, RepeatedBatchesAreSummed) {
  for (const Algebra algebra : kWithGradients) {
    const Tensor a = random_tensor(DType::kF64, {2, 1, 3, 4}, 1);
    const Tensor b = random_tensor(DType::kF64, {3, 4, 2}, 2);
    const Tensor dc = random_tensor(DType::kF64, {2, 3, 3, 2}, 3);
    const MatmulGradients g = gradients(algebra, a, b, dc);
    ASSERT_EQ(g.a.shape(), a.shape());
    ASSERT_EQ(g.b.shape(), b.shape());
    std::vector<double> sum_a(24), sum_b(24);
    for (std::int64_t i = 0; i < 2; ++i) {
      for (std::int64_t j = 0; j < 3; ++j) {
        const Tensor x = Tensor::copy(a.view().select(0, i).select(0, 0));
        const Tensor y = Tensor::copy(b.view().select(0, j));
        const Tensor d = Tensor::copy(dc.view().select(0, i).select(0, j));
        const MatmulGradients single = gradients(algebra, x, y, d);
        for (std::size_t e = 0; e < 12; ++e) {
          sum_a[static_cast<std::size_t>(i) * 12 + e] += single.a.as<double>()[e];
        }
        for (std::size_t e = 0; e < 8; ++e) {
          sum_b[static_cast<std::size_t>(j) * 8 + e] += single.b.as<double>()[e];
        }
      }
    }
    EXPECT_THAT(values(g.a.view()), Pointwise(DoubleNear(1e-13), sum_a)) << name_of(algebra);
    EXPECT_THAT(values(g.b.view()), Pointwise(DoubleNear(1e-13), sum_b)) << name_of(algebra);
  }
}

TEST(Gradients, EmptyExtents) {
  for (const Algebra algebra : kWithGradients) {
    for (const auto& [m, k, n] : {std::tuple{0, 3, 2}, {2, 0, 3}, {2, 3, 0}}) {
      const Tensor a(DType::kF32, Shape{m, k}), b(DType::kF32, Shape{k, n}),
          dc(DType::kF32, Shape{m, n});
      const MatmulGradients g = gradients(algebra, a, b, dc, Backend::kSimd);
      EXPECT_EQ(values(g.a.view()), std::vector<double>(static_cast<std::size_t>(m * k), 0));
      EXPECT_EQ(values(g.b.view()), std::vector<double>(static_cast<std::size_t>(k * n), 0));
    }
  }
}

TEST(Gradients, RefuseWhatDoesNotFit) {
  const Tensor a(DType::kF32, {2, 3}), b(DType::kF32, {3, 4}), c(DType::kF32, {2, 4});
  const Tensor wrong(DType::kF32, {4, 2}), half(DType::kF16, {2, 3}), other(DType::kF16, {3, 4});
  EXPECT_THAT([&] { matmul_gradients(Algebra::kMinPlus, a.view(), b.view(), c.view(), c.view()); },
              ThrowsMessage<UserError>(
                  "gradients are those of real, log, max_plus or euclidean, got min_plus"));
  EXPECT_THAT(
      [&] { matmul_gradients(Algebra::kLog, half.view(), other.view(), c.view(), c.view()); },
      ThrowsMessage<UserError>("gradients of log take f32 or f64, got f16"));
  EXPECT_THAT([&] { matmul_gradients(Algebra::kLog, a.view(), b.view(), c.view(), wrong.view()); },
              ThrowsMessage<UserError>("log gradients: the output has shape 4x2, expected 2x4"));
}

}  // namespace
}  // namespace assay::semiring
