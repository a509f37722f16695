// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/ell_grad.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "semiring/test_tensors.h"

namespace assay::semiring {
namespace {

using testing::ElementsAre;
using testing::IsNan;
using testing::ThrowsMessage;

constexpr Algebra kDifferentiable[] = {Algebra::kReal, Algebra::kLog, Algebra::kMaxPlus,
                                       Algebra::kMinPlus, Algebra::kEuclidean};

Tensor indices(std::initializer_list<std::initializer_list<double>> rows) {
  return matrix(rows, DType::kI32);
}

Tensor aggregated(Algebra algebra, const Tensor& v, const Tensor& idx, const Tensor& x,
                  Backend backend = Backend::kReference) {
  Tensor out(x.dtype(), Shape{v.shape()[0], x.shape()[1]});
  ell_matmul(algebra, v.view(), idx.view(), x.view(), out.mutable_view(), {backend});
  return out;
}

EllGradients ell_gradients(Algebra algebra, const Tensor& v, const Tensor& idx, const Tensor& x,
                           const Tensor& dout, Backend backend = Backend::kReference) {
  const Tensor out = aggregated(algebra, v, idx, x, backend);
  return ell_matmul_gradients(algebra, v.view(), idx.view(), x.view(), out.view(), dout.view());
}

TEST(EllGradients, ByHand) {
  // One row: slots 5 + x_1 = 7 and 4 + x_0 = 7; the absent one has the largest weight.
  const Tensor v = matrix({{99, 5, 4}}), x = matrix({{3}, {2}, {1000}}), one = matrix({{1}});
  const Tensor idx = indices({{-1, 1, 0}});
  auto g = ell_gradients(Algebra::kReal, v, idx, x, one);
  EXPECT_THAT(values(g.v.view()), ElementsAre(0, 2, 3));
  EXPECT_THAT(values(g.x.view()), ElementsAre(4, 5, 0));
  g = ell_gradients(Algebra::kLog, v, idx, x, one);  // two equal terms
  // The sum, its logarithm and what is taken of it are rounded once each, at most at 8.
  const auto near = [](double value) { return testing::DoubleNear(value, 8 * 0x1p-52); };
  EXPECT_THAT(values(g.v.view()), ElementsAre(0, near(0.5), near(0.5)));
  EXPECT_THAT(values(g.x.view()), ElementsAre(near(0.5), near(0.5), 0));
  for (const auto algebra : {Algebra::kMaxPlus, Algebra::kMinPlus}) {
    g = ell_gradients(algebra, v, idx, x, one);  // ties: the first
    EXPECT_THAT(values(g.v.view()), ElementsAre(0, 1, 0));
    EXPECT_THAT(values(g.x.view()), ElementsAre(0, 1, 0));
  }
  // Differences 3 and 4, distance 5.
  g = ell_gradients(Algebra::kEuclidean, matrix({{5, 99, 7}}), indices({{1, -1, 0}}), x, one);
  EXPECT_THAT(values(g.v.view()), ElementsAre(0.6, 0, 0.8));
  EXPECT_THAT(values(g.x.view()), ElementsAre(-0.8, -0.6, 0));
}

TEST(EllGradients, RowsWithoutSlotsAndInfinities) {
  const double inf = INFINITY;
  for (const Algebra algebra : kDifferentiable) {
    const auto g = ell_gradients(algebra, matrix({{NAN, 3}, {1, 2}}), indices({{-1, -1}, {0, -1}}),
                                 matrix({{1, 1}}), matrix({{7, 7}, {0, 0}}));
    EXPECT_THAT(values(g.v.view()), ElementsAre(0, 0, 0, 0)) << name_of(algebra);
    EXPECT_THAT(values(g.x.view()), ElementsAre(0, 0)) << name_of(algebra);
  }
  // No term to move; and what is infinitely far below takes nothing.
  auto g = ell_gradients(Algebra::kLog, matrix({{-inf, 0}}), indices({{0, 1}}),
                         matrix({{0, 0}, {-inf, 1}}), matrix({{5, 3}}));
  EXPECT_THAT(values(g.v.view()), ElementsAre(0, 3));
  EXPECT_THAT(values(g.x.view()), ElementsAre(0, 0, 0, 3));
  // The first NaN, though a number stands before it; distance 0 has no direction.
  g = ell_gradients(Algebra::kMaxPlus, matrix({{9, NAN, NAN}}), indices({{0, 0, 0}}), matrix({{1}}),
                    matrix({{2}}));
  EXPECT_THAT(values(g.v.view()), ElementsAre(0, 2, 0));
  g = ell_gradients(Algebra::kEuclidean, matrix({{1, NAN}}), indices({{0, -1}}), matrix({{1}}),
                    matrix({{2}}));
  EXPECT_THAT(values(g.v.view()), ElementsAre(0, 0));
  g = ell_gradients(Algebra::kLog, matrix({{NAN}}), indices({{0}}), matrix({{1}}), matrix({{2}}));
  EXPECT_THAT(values(g.v.view()), ElementsAre(IsNan()));
}

// Central differences of Σ dout ∘ out in f64, element by element of an input.
void expect_differences(Tensor& input, const Tensor& gradient, const std::function<double()>& loss,
                        std::string_view of) {
  ASSERT_EQ(gradient.shape(), input.shape()) << of;
  for (std::size_t i = 0; i < input.as<double>().size(); ++i) {
    double& value = input.as<double>()[i];
    const double before = value, h = 1e-5;
    value = before + h;
    const double up = loss();
    value = before - h;
    const double down = loss();
    value = before;
    // h² times a third derivative of a few, and roundings of a loss of some ten by h.
    EXPECT_NEAR(gradient.as<double>()[i], (up - down) / (2 * h), 1e-8) << of << " element " << i;
  }
}

double product_sum(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.as<double>().size(); ++i)
    sum += a.as<double>()[i] * b.as<double>()[i];
  return sum;
}

TEST(EllGradients, EqualFiniteDifferences) {
  for (const Backend backend : {Backend::kReference, Backend::kSimd}) {
    for (const Algebra algebra : kDifferentiable) {
      Tensor v = random_tensor(DType::kF64, {9, 4}, 1), x = random_tensor(DType::kF64, {6, 5}, 2);
      const Tensor idx = random_indices(9, 4, 6, 3), dout = random_tensor(DType::kF64, {9, 5}, 4);
      const auto g = ell_gradients(algebra, v, idx, x, dout, backend);
      const auto loss = [&] {
        // Rows without slots are infinite in some algebras, and depend on nothing.
        Tensor out = aggregated(algebra, v, idx, x, backend);
        for (double& value : out.as<double>())
          if (!std::isfinite(value)) value = 0;
        return product_sum(out, dout);
      };
      expect_differences(v, g.v, loss, name_of(algebra));
      expect_differences(x, g.x, loss, name_of(algebra));
    }
  }
}

TEST(EdgeGradients, EqualFiniteDifferences) {
  for (const Backend backend : {Backend::kReference, Backend::kSimd}) {
    for (const EdgeReduce reduce : {EdgeReduce::kSum, EdgeReduce::kMax}) {
      Tensor v = random_tensor(DType::kF64, {7, 4}, 1), x = random_tensor(DType::kF64, {6, 5}, 2),
             w = random_tensor(DType::kF64, {3, 5}, 5);
      const Tensor idx = random_indices(7, 4, 6, 3), dout = random_tensor(DType::kF64, {7, 3}, 4);
      const auto g = ell_edge_gradients(reduce, v.view(), idx.view(), x.view(), w.view(),
                                        dout.view(), {backend});
      const auto loss = [&] {
        Tensor out(DType::kF64, Shape{7, 3});
        ell_edge_aggregate(reduce, v.view(), idx.view(), x.view(), w.view(), out.mutable_view(),
                           {backend});
        for (double& value : out.as<double>())
          if (!std::isfinite(value)) value = 0;
        return product_sum(out, dout);
      };
      expect_differences(v, g.v, loss, name_of(reduce));
      expect_differences(x, g.x, loss, name_of(reduce));
      expect_differences(w, g.w, loss, name_of(reduce));
    }
  }
}

TEST(EllGradients, StridedInputsAndF32) {
  const Tensor v = random_tensor(DType::kF32, {4, 9}, 1), x = random_tensor(DType::kF32, {5, 6}, 2);
  const Tensor idx = random_indices(9, 4, 6, 3), dout = random_tensor(DType::kF32, {9, 5}, 4);
  for (const Algebra algebra : kDifferentiable) {
    const auto turned_v = Tensor::copy(v.view().transpose()),
               turned_x = Tensor::copy(x.view().transpose());
    const Tensor out = aggregated(algebra, turned_v, idx, turned_x);
    const auto strided = ell_matmul_gradients(algebra, v.view().transpose(), idx.view(),
                                              x.view().transpose(), out.view(), dout.view());
    const auto dense = ell_matmul_gradients(algebra, turned_v.view(), idx.view(), turned_x.view(),
                                            out.view(), dout.view());
    EXPECT_EQ(values(strided.v.view()), values(dense.v.view()));
    EXPECT_EQ(values(strided.x.view()), values(dense.x.view()));
  }
}

TEST(EllGradients, RefusesWhatHasNone) {
  const Tensor v = matrix({{1}}), x = matrix({{1}}), idx = indices({{0}}), far = indices({{1}});
  const auto of = [&](Algebra algebra, const Tensor& index, const Tensor& dout) {
    return [&, algebra] {
      ell_matmul_gradients(algebra, v.view(), index.view(), x.view(), x.view(), dout.view());
    };
  };
  const Tensor wide = matrix({{1, 2}}), narrow = matrix({{1}}, DType::kF32);
  EXPECT_THAT(of(Algebra::kReal, far, x),
              ThrowsMessage<UserError>(testing::HasSubstr("row 0, slot 0")));
  EXPECT_THAT(of(Algebra::kReal, idx, wide), ThrowsMessage<UserError>(testing::HasSubstr("1x2")));
  EXPECT_THAT(of(Algebra::kLog, idx, narrow), ThrowsMessage<UserError>(testing::HasSubstr("f32")));
  const Tensor flag = matrix({{1}}, DType::kBool);
  EXPECT_THAT(
      [&] {
        ell_matmul_gradients(Algebra::kBoolean, flag.view(), idx.view(), flag.view(), flag.view(),
                             flag.view());
      },
      ThrowsMessage<UserError>(testing::HasSubstr("boolean")));
  const Tensor half = matrix({{1}}, DType::kF16);
  EXPECT_THAT(
      [&] {
        ell_edge_gradients(EdgeReduce::kSum, half.view(), idx.view(), half.view(), half.view(),
                           half.view());
      },
      ThrowsMessage<UserError>(testing::HasSubstr("f16")));
}

}  // namespace
}  // namespace assay::semiring
