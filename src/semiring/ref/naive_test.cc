// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/ref/naive.h"

#include <gtest/gtest.h>

#include <cmath>

#include "semiring/ref/reference.h"
#include "semiring/test_tensors.h"

namespace assay::semiring {
namespace {

// The error bound of one output element of the naive form in a working dtype of unit roundoff u,
// from the size of its terms (see Higham, Accuracy and Stability, 3.1 and 4.2).
double bound(Algebra algebra, const TensorView& a, const TensorView& b, std::int64_t i,
             std::int64_t j, double result, double u) {
  const std::int64_t k = a.extent(1), n = b.extent(1);
  double absolute = 0, largest = 0;
  for (std::int64_t l = 0; l < k; ++l) {
    const double x = value_as_double(a, i * k + l), y = value_as_double(b, l * n + j);
    absolute += std::abs(x * y);
    largest = std::max(largest, std::abs(x + y));
  }
  const auto count = static_cast<double>(k);
  switch (algebra) {
    // Each product and each addition rounds once: γ_k Σ|a·b|, and 1.01 covers the higher orders.
    case Algebra::kReal:
      return 1.01 * (count + 1) * u * absolute;
    // Each term is shifted by two rounded additions (2u·|a+b| in the exponent), exp is good to 2
    // ulp, the sum to k roundings: relative in the sum, hence absolute in its logarithm; then log
    // to 2 ulp of at most log k, and the last addition.
    case Algebra::kLog:
      return 1.01 * u * (3 * largest + count + 4 + 4 * std::log(count) + std::abs(result));
    // (a−b)² has three roundings, all terms are positive: relative error k + 3 in the square, half
    // of that in the root, which rounds once more.
    case Algebra::kEuclidean:
      return 1.01 * ((count + 3) / 2 + 1) * u * result;
    // One rounding of a + b, and rounding is monotonic.
    case Algebra::kMaxPlus:
    case Algebra::kMinPlus:
      return u * std::abs(result);
    case Algebra::kBoolean:
      return 0;
  }
  return 0;
}

void compare(Algebra algebra, DType dtype, std::int64_t m, std::int64_t k, std::int64_t n) {
  const Tensor a = random_tensor(dtype, Shape{m, k}, 1), b = random_tensor(dtype, Shape{k, n}, 2);
  const MatmulProblem problem = matmul_problem(algebra, a.view(), b.view());
  const Tensor naive = naive_matmul(problem), reference = reference_matmul(problem);
  ASSERT_EQ(naive.dtype(), working_dtype(dtype));
  ASSERT_EQ(naive.shape(), reference.shape());
  // In f64 the reference errs as much as the naive form.
  const double u = naive.dtype() == DType::kF64 ? 2 * 0x1p-53 : 0x1p-24;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const double expected = value_as_double(reference.view(), i * n + j);
      ASSERT_NEAR(value_as_double(naive.view(), i * n + j), expected,
                  bound(algebra, a.view(), b.view(), i, j, expected, u))
          << name_of(algebra) << ' ' << name_of(dtype) << ' ' << m << ' ' << k << ' ' << n;
    }
  }
}

TEST(Naive, AgreesWithTheReferenceWithinItsRoundings) {
  for (const Algebra algebra : kAllAlgebras) {
    for (const auto& [m, k, n] :
         {std::tuple{1, 1, 1}, {3, 2, 4}, {8, 16, 8}, {7, 17, 9}, {2, 127, 31}, {31, 513, 1}}) {
      if (algebra == Algebra::kBoolean) {
        compare(algebra, DType::kBool, m, k, n);
        continue;
      }
      compare(algebra, DType::kF32, m, k, n);
      compare(algebra, DType::kF64, m, k, n);
      if (algebra == Algebra::kMaxPlus || algebra == Algebra::kMinPlus) continue;
      compare(algebra, DType::kF16, m, k, n);
      compare(algebra, DType::kBF16, m, k, n);
    }
  }
}

TEST(Naive, HolesAndFarTermsOfLogAgree) {
  // Terms up to 200 nats apart and holes of −∞, one row of holes alone.
  Tensor a(DType::kF32, {6, 40}), b(DType::kF32, {40, 5});
  fill_uniform(a.mutable_view(), Philox(1), -100, 100);
  fill_uniform(b.mutable_view(), Philox(2), -100, 100);
  for (std::size_t i = 0; i < 240; ++i) {
    if (i < 40 || i % 7 == 0) a.as<float>()[i] = -INFINITY;
  }
  const MatmulProblem problem = matmul_problem(Algebra::kLog, a.view(), b.view());
  const Tensor naive = naive_matmul(problem), reference = reference_matmul(problem);
  for (std::int64_t i = 0; i < 30; ++i) {
    const double expected = value_as_double(reference.view(), i);
    const double actual = value_as_double(naive.view(), i);
    if (i < 5) {
      EXPECT_EQ(expected, -INFINITY);
      EXPECT_EQ(actual, -INFINITY);
    } else {
      // As `bound` for log, with |a + b| at most 200.
      EXPECT_NEAR(actual, expected, 1.01 * 0x1p-24 * (600 + 40 + 4 + 16 + std::abs(expected)));
    }
  }
}

TEST(Naive, StatesItsMemory) {
  // 512³ terms of four bytes; log keeps 512² maxima beside them.
  EXPECT_EQ(naive_matmul_bytes(Algebra::kReal, DType::kF32, 1, 512, 512, 512), 4.0 * (1 << 27));
  EXPECT_EQ(naive_matmul_bytes(Algebra::kLog, DType::kBF16, 1, 512, 512, 512),
            4.0 * ((1 << 27) + (1 << 18)));
  EXPECT_EQ(naive_matmul_bytes(Algebra::kBoolean, DType::kBool, 3, 2, 5, 7), 3.0 * 2 * 5 * 7);
  EXPECT_EQ(naive_ell_edge_aggregate_bytes(DType::kF32, 10, 16, 20, 64),
            4.0 * (10 * 16 * 64 + 20 * 64));
  const Tensor a(DType::kF32, {2, 3, 4}), b(DType::kF32, {4, 5});
  EXPECT_EQ(naive_matmul_bytes(matmul_problem(Algebra::kReal, a.view(), b.view())),
            4.0 * 2 * 3 * 4 * 5);
  // Sizes that no machine has are still numbers.
  const std::int64_t huge = std::int64_t{1} << 50;
  EXPECT_EQ(naive_matmul_bytes(Algebra::kReal, DType::kF32, 1, huge, huge, huge), 0x1p152);
}

}  // namespace
}  // namespace assay::semiring
