// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/leading_eigen.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace assay::einsum {
namespace {

// QΛQᵀ with a random basis Q.
template <typename T>
Matrix<T> symmetric_of(const std::vector<double>& values) {
  const auto n = static_cast<std::int64_t>(values.size());
  const auto q = orthonormal(random_matrix<T>(n, n, 3, 5));
  auto left = q;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j)
      left(i, j) *= static_cast<T>(values[static_cast<std::size_t>(j)]);
  }
  auto g = multiply(left, transposed(q));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) g(i, j) = g(j, i);
  }
  return g;
}

// ‖GV − VΛ‖ and ‖VᵀV − 1‖ are LAPACK's, and so are the eigenvalues.
template <typename T>
bool by_lapack(const std::vector<double>& values, std::int64_t count) {
  const auto g = symmetric_of<T>(values);
  const auto found = leading_eigen(g, count);
  const auto right = falling_eigen(g);
  EXPECT_EQ(found.vectors.rows, g.rows);
  EXPECT_EQ(found.vectors.columns, count);
  const auto products = cross(found.vectors, multiply(g, found.vectors));
  const auto cosines = cross(found.vectors, found.vectors);
  // A norm-wise backward error of 8√n ε, twice, and as much for the roundings here.
  const double most = 32 * std::sqrt(static_cast<double>(g.rows) * static_cast<double>(count)) *
                      static_cast<double>(std::numeric_limits<T>::epsilon());
  const double size = norm<T>(g.data);
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < count; ++j) {
      const double value =
          i == j ? static_cast<double>(right.values[static_cast<std::size_t>(i)]) : 0;
      EXPECT_NEAR(static_cast<double>(products(i, j)), value, most * size) << i << " " << j;
      EXPECT_NEAR(static_cast<double>(cosines(i, j)), i == j ? 1 : 0, most) << i << " " << j;
    }
  }
  return found.by_lapack;
}

std::vector<double> falling(std::size_t n, std::size_t large, double rest) {
  std::vector<double> values(n, rest);
  for (std::size_t i = 0; i < large; ++i) values[i] = 1000.0 / static_cast<double>(i + 1);
  return values;
}

TEST(LeadingEigen, ASubspaceHasThemWhereOthersAreSmall) {
  EXPECT_FALSE(by_lapack<double>(falling(96, 12, 1e-9), 12));
  EXPECT_FALSE(by_lapack<double>(falling(96, 12, 0.01), 12));
  EXPECT_FALSE(by_lapack<float>(falling(96, 12, 1e-3), 12));
  EXPECT_FALSE(by_lapack<double>(falling(97, 1, 0.0), 1));
}

TEST(LeadingEigen, LapackHasThemWhereNobodyCanTellByThat) {
  EXPECT_TRUE(by_lapack<double>(falling(96, 96, 0), 12));     // the thirteenth is close
  EXPECT_TRUE(by_lapack<double>(falling(96, 11, 1e-3), 12));  // the twelfth is one of many
  EXPECT_TRUE(by_lapack<double>(falling(96, 5, 0), 12));      // there are no twelve
  EXPECT_TRUE(by_lapack<double>(falling(40, 12, 0), 12));     // too small to be worth it
  EXPECT_TRUE(by_lapack<float>(std::vector<double>(64, 1.0), 3));
  EXPECT_TRUE(by_lapack<double>(std::vector<double>(64, 0.0), 3));
}

TEST(LeadingEigen, NegativeEigenvaluesCountAmongTheOthers) {
  auto values = falling(96, 12, 1e-3);
  values[95] = -2e-3;
  EXPECT_FALSE(by_lapack<double>(values, 12));
  values[95] = -500;
  EXPECT_TRUE(by_lapack<double>(values, 12));
}

TEST(LeadingEigen, SquaresOfTheEigenvaluesMayLeaveTheRange) {
  for (const double size : {1e28, 1e-24}) {  // of float: 3.4e38 and 1.2e-38
    auto values = falling(96, 12, 1e-3);
    for (double& value : values) value *= size;
    EXPECT_FALSE(by_lapack<float>(values, 12)) << size;
  }
}

TEST(LeadingEigen, NanIsRefused) {
  auto g = symmetric_of<double>(falling(96, 12, 0));
  g(3, 4) = g(4, 3) = NAN;
  EXPECT_THROW(leading_eigen(g, 12), UserError);
}

}  // namespace
}  // namespace assay::einsum
