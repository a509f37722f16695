// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/normal_equations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "einsum/decompose/cp.h"

namespace assay::einsum {
namespace {

template <typename T>
Matrix<T> matrix(std::int64_t rows, std::int64_t columns, std::vector<T> values) {
  Matrix<T> m(rows, columns);
  m.data = std::move(values);
  return m;
}

TEST(NormalEquations, CholeskyWhereGammaIsDefinite) {
  auto m = matrix<double>(2, 2, {5, 4, 2, 1});
  EXPECT_EQ(solve_normal_equations(matrix<double>(2, 2, {2, 1, 1, 1}), m), SolveStage::kCholesky);
  EXPECT_THAT(m.data, testing::Pointwise(testing::DoubleNear(1e-14), {1., 3., 1., 0.}));
}

TEST(NormalEquations, LeastSolutionWhereGammaIsSingular) {
  // u·(1 1; 1 1) = (4 4): all (a, 4 − a) solve it, (2, 2) is the shortest.
  auto m = matrix<double>(1, 2, {4, 4});
  EXPECT_EQ(solve_normal_equations(matrix<double>(2, 2, {1, 1, 1, 1}), m), SolveStage::kTruncated);
  EXPECT_THAT(m.data, testing::Pointwise(testing::DoubleNear(1e-13), {2., 2.}));
  // Definite, but only by rounding: Cholesky would divide by 1e-16.
  m = matrix<double>(1, 2, {4, 4});
  EXPECT_EQ(solve_normal_equations(matrix<double>(2, 2, {1, 1, 1, 1 + 2.3e-16}), m),
            SolveStage::kTruncated);
  EXPECT_THAT(m.data, testing::Pointwise(testing::DoubleNear(1e-13), {2., 2.}));
  // Nothing at all is seen.
  auto none = matrix<float>(2, 1, {3, 4});
  EXPECT_EQ(solve_normal_equations(matrix<float>(1, 1, {0}), none), SolveStage::kTruncated);
  EXPECT_THAT(none.data, testing::Each(0));
}

TEST(NormalEquations, RidgeWhereBothOverflow) {
  // 1/Γ = 1e310 is beyond double: Cholesky and eigenvalues both give infinities.
  auto m = matrix<double>(1, 2, {1, -1});
  EXPECT_EQ(solve_normal_equations(matrix<double>(2, 2, {1e-310, 0, 0, 1e-310}), m),
            SolveStage::kRidge);
  EXPECT_TRUE(std::isfinite(m.data[0]));
  // The first ridge that works is the smallest normal number or a few times that.
  EXPECT_GT(m.data[0], 1e300);
  EXPECT_EQ(m.data[0], -m.data[1]);
  auto single = matrix<float>(1, 1, {1});
  EXPECT_EQ(solve_normal_equations(matrix<float>(1, 1, {1e-42f}), single), SolveStage::kRidge);
  EXPECT_GT(single.data[0], 1e30f);
}

TEST(NormalEquations, RefuseWhatIsNotANumber) {
  auto m = matrix<double>(1, 1, {std::numeric_limits<double>::infinity()});
  EXPECT_THROW(solve_normal_equations(matrix<double>(1, 1, {1}), m), UserError);
  auto none = matrix<double>(0, 1, {});
  EXPECT_EQ(solve_normal_equations(matrix<double>(1, 1, {0}), none), SolveStage::kCholesky);
}

TEST(NormalEquations, CpCountsTheStages) {
  // Both components of the start are equal, so that every Γ is the matrix of ones.
  Tensor x(DType::kF64, Shape({2, 3, 4}));
  for (std::size_t i = 0; i < 24; ++i) x.as<double>()[i] = static_cast<double>(i % 5 + 1);
  std::vector<Tensor> start;
  for (const std::int64_t n : {2, 3, 4}) {
    start.emplace_back(DType::kF64, Shape({n, 2}));
    for (auto& v : start.back().as<double>()) v = 1;
  }
  const auto d = cp(x.view(), {.rank = 2, .max_sweeps = 2, .start = &start});
  EXPECT_EQ(d.truncated, 6);
  EXPECT_EQ(d.ridged, 0);
  EXPECT_GT(d.fit, 0.5);
  // Entries of 1e30 in f32: their products with factors still fit, 1e38 of them do not.
  Tensor large(DType::kF32, Shape({8, 8}));
  for (auto& v : large.as<float>()) v = 1e38f;
  std::vector<Tensor> ones;
  for (int m = 0; m < 2; ++m) {
    ones.emplace_back(DType::kF32, Shape({8, 1}));
    for (auto& v : ones.back().as<float>()) v = 1;
  }
  EXPECT_THAT([&] { cp(large.view(), {.rank = 1, .start = &ones}); },
              testing::ThrowsMessage<UserError>(testing::HasSubstr("beyond the range of f32")));
}

}  // namespace
}  // namespace assay::einsum
