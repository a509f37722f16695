// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/mttkrp.h"

#include <gtest/gtest.h>
#include "kernels/targets.h"

#include <cmath>
#include <limits>

#include "einsum/decompose/cp_model.h"
#include "einsum/kernels/skinny.h"

namespace assay::einsum {
namespace {

template <typename T>
std::vector<T> random_values(std::int64_t count, std::uint64_t stream) {
  return random_matrix<T>(count, 1, 11, stream).data;
}

// Both products against plain sums in double. Entries are below 1, so an fma of n terms is off by
// at most n·ε·n/2; the sums are compared with twice that.
template <typename T>
void compare_products(const Middle& s, std::int64_t rank, int threads) {
  const std::int64_t columns = padded_columns<T>(rank);
  const auto x = random_values<T>(s.before * s.n * s.after, 1);
  const auto wide = random_values<T>(s.before * s.n * s.after * columns, 2);
  Matrix<T> u(s.n, columns);
  const auto entries = random_values<T>(s.n * rank, 3);
  for (std::int64_t i = 0; i < s.n; ++i) {
    for (std::int64_t r = 0; r < rank; ++r) {
      u(i, r) = entries[static_cast<std::size_t>(i * rank + r)];
    }
  }
  const T poison = std::numeric_limits<T>::quiet_NaN();
  std::vector<T> y(static_cast<std::size_t>(s.before * s.after * columns) + 1, poison), z = y;
  multiply_skinny(x.data(), s, u.data.data(), columns, y.data(), threads);
  contract_columns(wide.data(), s, u.data.data(), columns, z.data(), threads);
  EXPECT_TRUE(std::isnan(y.back()) && std::isnan(z.back())) << "written beyond the end";
  const double n = static_cast<double>(s.n);
  const double bound = n * n * std::numeric_limits<T>::epsilon();
  for (std::int64_t p = 0; p < s.before; ++p) {
    for (std::int64_t q = 0; q < s.after; ++q) {
      for (std::int64_t r = 0; r < columns; ++r) {
        double sum = 0, column_sum = 0;
        for (std::int64_t i = 0; i < s.n; ++i) {
          const auto at = static_cast<std::size_t>((p * s.n + i) * s.after + q);
          sum += double{x[at]} * double{u(i, r)};
          column_sum +=
              double{wide[at * static_cast<std::size_t>(columns) + static_cast<std::size_t>(r)]} *
              double{u(i, r)};
        }
        const auto to = static_cast<std::size_t>((p * s.after + q) * columns + r);
        ASSERT_NEAR(y[to], sum, bound) << s.before << " " << s.n << " " << s.after << " " << rank;
        ASSERT_NEAR(z[to], column_sum, bound) << s.before << " " << s.n << " " << s.after;
      }
    }
  }
}

template <typename T>
void compare_all_products() {
  // Around the tile's four and eight rows, and the 256 terms that are summed at a time.
  for (const std::int64_t rows : {1, 2, 3, 5, 7, 8, 9, 17}) {
    for (const std::int64_t n : {1, 2, 13}) {
      compare_products<T>({rows, n, 1}, 3, 1);
      compare_products<T>({1, n, rows}, 16, 2);
      compare_products<T>({2, n, rows}, 5, 3);
    }
  }
  compare_products<T>({9, 257, 1}, 3, 1);
  compare_products<T>({2, 257, 3}, 3, 1);
  for (const std::int64_t rank : {1, 7, 8, 9, 16, 17, 33, 50}) {
    compare_products<T>({11, 6, 1}, rank, 1);
    compare_products<T>({3, 6, 11}, rank, 1);
  }
  // A slab of 600 KiB, beyond what stays in the cache: runs of 512 with 16 rows at a time.
  compare_products<T>({1, 600 * 1024 / 515 / static_cast<std::int64_t>(sizeof(T)), 515}, 2, 1);
  compare_products<T>({2, 17, 1030}, 2, 3);
}

TEST(Skinny, EqualsPlainSumsOnEveryInstructionSet) {
  for (const auto& set : kernels::instruction_sets()) {
    SCOPED_TRACE(set.name);
    const kernels::OnlyInstructionSet only(set);
    compare_all_products<float>();
    compare_all_products<double>();
  }
}

template <typename T>
std::vector<Matrix<T>> random_factors(const std::vector<std::int64_t>& shape, std::int64_t rank,
                                      std::uint64_t seed) {
  std::vector<Matrix<T>> factors;
  for (std::size_t m = 0; m < shape.size(); ++m) {
    factors.push_back(random_matrix<T>(shape[m], rank, seed, m));
  }
  return factors;
}

// By the definition, in double.
template <typename T>
Matrix<double> plain_mttkrp(const DenseTensor<T>& x, const std::vector<Matrix<T>>& factors,
                            std::size_t mode) {
  const std::int64_t rank = factors[0].columns;
  Matrix<double> m(x.shape[mode], rank);
  for (std::int64_t at = 0; at < x.size(); ++at) {
    std::vector<std::int64_t> index(x.order());
    std::int64_t rest = at;
    for (std::size_t k = x.order(); k-- > 0; rest /= x.shape[k]) index[k] = rest % x.shape[k];
    for (std::int64_t r = 0; r < rank; ++r) {
      double term = x.data[static_cast<std::size_t>(at)];
      for (std::size_t k = 0; k < x.order(); ++k) {
        if (k != mode) term *= factors[k](index[k], r);
      }
      m(index[mode], r) += term;
    }
  }
  return m;
}

template <typename T>
void compare_sweeps(const std::vector<std::int64_t>& shape, std::int64_t rank) {
  DenseTensor<T> x;
  x.shape = shape;
  x.data = random_values<T>(x.size(), 4);
  auto factors = random_factors<T>(shape, rank, 5);
  const auto others = random_factors<T>(shape, rank, 6), third = random_factors<T>(shape, rank, 7);
  Mttkrp<T> mttkrp(x, factors, 2);
  const auto n = static_cast<int>(shape.size());
  const int sweeps = 2 * (n - 1);
  // Sums of fewer terms than x has, all below 1, rounded once for each mode.
  const double bound =
      static_cast<double>(n * x.size()) * std::numeric_limits<T>::epsilon() * std::sqrt(x.size());
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t mode = 0; mode < shape.size(); ++mode) {
      const auto expected = plain_mttkrp(x, factors, mode);
      const auto m = mttkrp.next();
      ASSERT_EQ(m.rows, expected.rows);
      for (std::size_t i = 0; i < m.data.size(); ++i) {
        ASSERT_NEAR(m.data[i], expected.data[i], bound) << "sweep " << sweep << " mode " << mode;
      }
      factors[mode] = sweep % 2 == 0 ? others[mode] : third[mode];
    }
  }
  // Two rounds of n − 1 sweeps need 2n products with the tensor, not 2·(n − 1)·2.
  EXPECT_EQ(mttkrp.products(), 2 * n);
}

TEST(Mttkrp, FollowsTheFactorsWithFewProducts) {
  compare_sweeps<double>({5, 7}, 3);
  compare_sweeps<double>({4, 9, 6}, 16);
  compare_sweeps<float>({17, 3, 8}, 5);
  compare_sweeps<double>({3, 4, 5, 6}, 2);
  compare_sweeps<float>({2, 3, 1, 4, 3}, 9);
  compare_sweeps<double>({2, 3, 2, 2, 3, 2}, 4);
  compare_sweeps<double>({1, 1, 1}, 1);
  compare_sweeps<double>({4, 3, 5}, 130);  // many columns go to BLAS
  compare_sweeps<float>({4, 3, 5, 2}, 200);
}

TEST(CpModel, DistanceEqualsThatToTheWholeModel) {
  // 300 rows of 150 take several blocks.
  for (const auto& shape : std::vector<std::vector<std::int64_t>>{{20, 15, 150}, {7, 3}, {1, 1}}) {
    DenseTensor<double> x;
    x.shape = shape;
    x.data = random_values<double>(x.size(), 8);
    const auto factors = random_factors<double>(shape, 4, 9);
    const std::vector<double> weights = {2, 1, 0.5, -1};
    const auto model = model_tensor(weights, factors);
    ASSERT_EQ(model.size(), x.data.size());
    std::int64_t at = x.size() / 2, rest = at;
    std::vector<double> terms = weights;
    for (std::size_t m = shape.size(); m-- > 0; rest /= shape[m]) {
      for (std::size_t r = 0; r < 4; ++r)
        terms[r] *= factors[m](rest % shape[m], static_cast<std::int64_t>(r));
    }
    EXPECT_NEAR(model[static_cast<std::size_t>(at)], terms[0] + terms[1] + terms[2] + terms[3],
                1e-14);
    const double expected = distance<double>(x.data, model);
    const double one = distance_to_model(x, weights, factors, 1);
    EXPECT_NEAR(one, expected, 1e-12 * expected);
    EXPECT_EQ(one, distance_to_model(x, weights, factors, 3));
  }
}

}  // namespace
}  // namespace assay::einsum
