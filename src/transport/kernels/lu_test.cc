// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Inversion and factorisation, at sizes around the leaf, the panel and zero.
#include "transport/kernels/lu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "transport/kernels/kernels.h"
#include "transport/kernels/plain_matrix.h"

namespace assay::transport {
namespace {

TEST(Inversion, InverseTimesMatrixIsTheIdentity) {
  for (const int n : {0, 1, 2, 31, 32, 33, 47, 48, 63, 64, 65, 97, 99, 130}) {
    auto a = random_matrix(n, n, static_cast<std::uint64_t>(n));
    Plain<> identity(n, n);
    for (int i = 0; i < n; ++i) {
      a(i, i) += n;  // κ ≈ 2
      identity(i, i) = 1;
    }
    auto inverse = a;
    std::vector<double> scratch;
    invert_without_pivoting(n, inverse.v.data(), scratch);
    // n·κ·ε of a backward-stable inversion, ×10.
    EXPECT_LE(difference(product(a, inverse), identity), 1e-15 * 10 * (n + 2)) << n;
  }
}

TEST(Inversion, WhatHasNoInverseIsNotFinite) {
  for (const int n : {1, 32, 33, 70}) {
    std::vector<double> zero(elements(n, n)),
        nan(elements(n, n), std::numeric_limits<double>::quiet_NaN()), scratch;
    invert_without_pivoting(n, zero.data(), scratch);
    invert_without_pivoting(n, nan.data(), scratch);
    for (const auto& a : {zero, nan}) {
      EXPECT_TRUE(std::ranges::any_of(a, [](double x) { return !std::isfinite(x); })) << n;
    }
  }
}

const std::vector<int> kSizes = {0, 1, 2, 31, 32, 33, 63, 64, 65, 95, 96, 97, 99, 128, 130, 161};

TEST(Lu, FactorsAreThoseOfTheExchangedMatrix) {
  for (const int n : kSizes) {
    const auto a = random_matrix(n, n, static_cast<std::uint64_t>(n));
    auto lu = a;
    LuFactors factors;
    ASSERT_TRUE(factor_lu(n, lu.v.data(), factors));
    auto exchanged = a;
    for (int p = 0; p < n; ++p) {
      const int other = factors.pivots[static_cast<std::size_t>(p)] - 1;
      ASSERT_TRUE(other >= p && other < n);
      exchange(exchanged, p, other);
    }
    EXPECT_LE(difference(multiply_out(lu), exchanged), growth(n)) << n;
  }
}

TEST(Lu, SolvingFromTheRightAndMultiplyingBackIsTheIdentity) {
  for (const int n : kSizes) {
    for (const int rows : {0, 1, 15, 17, 40}) {
      auto a = random_matrix(n, n, static_cast<std::uint64_t>(n));
      // A cycle of rows on top: no pivot is on the diagonal, and κ ≈ 2.
      for (int i = 0; i < n; ++i) a((i + 1) % n, i) += n;
      auto lu = a;
      LuFactors factors;
      ASSERT_TRUE(factor_lu(n, lu.v.data(), factors));
      const auto b = random_matrix(rows, n, 8);
      auto x = b;
      solve_lu_from_right(lu.v.data(), factors, rows, x.v.data());
      EXPECT_LE(difference(product(x, a), b), 1e-15 * 10 * (n + 2)) << n;
    }
  }
}

TEST(Lu, AZeroPivotIsToldAndNanStays) {
  for (const int n : {1, 8, 33, 65, 99}) {
    LuFactors factors;
    for (const int zero : {0, n / 2, n - 1}) {
      auto a = random_matrix(n, n, 4);
      for (int r = 0; r < n; ++r) a(r, zero) = 0;
      EXPECT_FALSE(factor_lu(n, a.v.data(), factors)) << n << " " << zero;
    }
    auto a = random_matrix(n, n, 4);
    a(n / 2, n / 2) = std::numeric_limits<double>::quiet_NaN();
    factor_lu(n, a.v.data(), factors);
    for (const int p : factors.pivots) EXPECT_TRUE(p >= 1 && p <= n);
    EXPECT_TRUE(std::ranges::any_of(a.v, [](double x) { return std::isnan(x); }));
    Plain<> b(3, n);
    b(0, 0) = 1;
    solve_lu_from_right(a.v.data(), factors, 3, b.v.data());
    EXPECT_TRUE(std::ranges::any_of(b.v, [](double x) { return !std::isfinite(x); }));
  }
}

}  // namespace
}  // namespace assay::transport
