// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/ref/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "semiring/test_tensors.h"

namespace assay::semiring {
namespace {

// One output element by its definition, in the widest arithmetic at hand.
long double direct(Algebra algebra, const TensorView& a, const TensorView& b, std::int64_t i,
                   std::int64_t j) {
  const std::int64_t k = a.extent(1);
  std::vector<long double> terms;
  for (std::int64_t l = 0; l < k; ++l) {
    const long double x = value_as_double(a, i * k + l);
    const long double y = value_as_double(b, l * b.extent(1) + j);
    switch (algebra) {
      case Algebra::kReal:
        terms.push_back(x * y);
        break;
      case Algebra::kEuclidean:
        terms.push_back((x - y) * (x - y));
        break;
      case Algebra::kBoolean:
        terms.push_back(x != 0 && y != 0);
        break;
      default:
        terms.push_back(x + y);
        break;
    }
  }
  const auto largest = *std::max_element(terms.begin(), terms.end());
  long double sum = 0;
  switch (algebra) {
    case Algebra::kMaxPlus:
    case Algebra::kBoolean:
      return largest;
    case Algebra::kMinPlus:
      return *std::min_element(terms.begin(), terms.end());
    case Algebra::kLog:
      for (const auto term : terms) sum += std::exp(term - largest);
      return largest + std::log(sum);
    case Algebra::kReal:
    case Algebra::kEuclidean:
      break;
  }
  for (const auto term : terms) sum += term;
  return algebra == Algebra::kEuclidean ? std::sqrt(sum) : sum;
}

TEST(Reference, EqualsTheDefinitionAtAwkwardSizes) {
  for (const Algebra algebra : kAllAlgebras) {
    const auto dtypes = algebra == Algebra::kBoolean ? std::vector{DType::kBool}
                        : algebra == Algebra::kMaxPlus || algebra == Algebra::kMinPlus
                            ? std::vector{DType::kF32, DType::kF64}
                            : std::vector{DType::kF16, DType::kBF16, DType::kF32, DType::kF64};
    for (const DType dtype : dtypes) {
      for (const auto& [m, k, n] :
           {std::tuple{1, 1, 1}, {2, 3, 5}, {7, 16, 17}, {13, 129, 3}, {1, 257, 31}}) {
        const Tensor a = random_tensor(dtype, Shape{m, k}, 1);
        const Tensor b = random_tensor(dtype, Shape{k, n}, 2);
        const Tensor out = reference_matmul(matmul_problem(algebra, a.view(), b.view()));
        ASSERT_EQ(out.dtype(), dtype == DType::kBool ? dtype : DType::kF64);
        // With u = 2^-53. real: products below 3, each rounded once and added k times:
        // 3·k·(k+1)·u. euclidean: positive terms with three roundings each, k additions, half of
        // that relative error after the root, at most √(12·k). log: an exponent below 7 in size is
        // rounded twice (14u), exp, sum and every possible rescaling add (2 + 1 + 7 + 2)·u for each
        // of k terms, the logarithm and the last addition are below 10. max and min round a + b,
        // below 4, once.
        const double u = 0x1p-53, count = static_cast<double>(k);
        const double tolerance = algebra == Algebra::kReal ? 3 * count * (count + 1) * u
                                 : algebra == Algebra::kEuclidean
                                     ? ((count + 3) / 2 + 1) * u * std::sqrt(12 * count)
                                 : algebra == Algebra::kLog     ? (12 * count + 14 + 20) * u
                                 : algebra == Algebra::kBoolean ? 0
                                                                : 4 * u;
        for (std::int64_t i = 0; i < m; ++i) {
          for (std::int64_t j = 0; j < n; ++j) {
            const auto expected = direct(algebra, a.view(), b.view(), i, j);
            ASSERT_NEAR(value_as_double(out.view(), i * n + j), static_cast<double>(expected),
                        tolerance)
                << name_of(algebra) << ' ' << name_of(dtype) << ' ' << i << ' ' << j;
          }
        }
      }
    }
  }
}

TEST(Reference, RowsAreThoseOfTheWhole) {
  const std::vector<std::int64_t> rows = {11, 0, 5, 5, 3};
  for (const Algebra algebra : kAllAlgebras) {
    const DType dtype = algebra == Algebra::kBoolean ? DType::kBool : DType::kF32;
    const Tensor a = random_tensor(dtype, {3, 4, 6}, 1), b = random_tensor(dtype, {3, 6, 5}, 2);
    const Tensor whole = reference_matmul(matmul_problem(algebra, a.view(), b.view()));
    const Tensor part = reference_rows(algebra, a.view(), b.view(), rows);
    ASSERT_EQ(part.shape(), Shape({5, 5}));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      EXPECT_TRUE(bitwise_equal(part.view().select(0, static_cast<std::int64_t>(r)),
                                whole.view().select(0, rows[r] / 4).select(0, rows[r] % 4)));
    }
    EXPECT_EQ(reference_rows(algebra, a.view(), b.view(), {}).shape(), Shape({0, 5}));
    const std::vector<std::int64_t> outside = {12}, negative = {-1};
    EXPECT_THROW(reference_rows(algebra, a.view(), b.view(), outside), InternalError);
    EXPECT_THROW(reference_rows(algebra, a.view(), b.view(), negative), InternalError);
  }
}

TEST(Reference, SmallDifferencesOfFloatsSurvive) {
  // In f32 the square of 1e-30 underflows to zero; the reference sees it.
  const Tensor a = matrix({{1e-30}}, DType::kF32), b = matrix({{0}}, DType::kF32);
  const Tensor out = reference_matmul(matmul_problem(Algebra::kEuclidean, a.view(), b.view()));
  EXPECT_DOUBLE_EQ(out.as<double>()[0], value_as_double(a.view(), 0));
}

TEST(Reference, LogSpansHundredsOfNats) {
  const double inf = INFINITY;
  const Tensor a = matrix({{0, -200, -inf, -745}}, DType::kF32);
  const Tensor b = matrix({{-500}, {-300}, {0}, {100}}, DType::kF32);
  // Terms −500, −500, −∞, −645: log 2 − 500, the last lost below 2^-53 as it should be.
  const Tensor out = reference_matmul(matmul_problem(Algebra::kLog, a.view(), b.view()));
  EXPECT_DOUBLE_EQ(out.as<double>()[0], -500 + std::log(2.0));
}

}  // namespace
}  // namespace assay::semiring
