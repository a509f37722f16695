// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/blas/blas.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "base/test_attention.h"

namespace assay::blas {
namespace {

// Values of a few bits, so that sums of them are exact whatever their order.
std::vector<float> small_numbers(std::size_t count, int seed) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>((i * 7919 + static_cast<std::size_t>(seed)) % 17) - 8;
  }
  return values;
}

// Products of more than one piece, each side the longest once, against BLAS in one go.
TEST(Blas, ProductsInPiecesAreThoseOfOneGo) {
  struct Sizes {
    int m, n, k;
  };
  for (const auto& [m, n, k] : {Sizes{6001, 900, 1000}, {900, 6001, 1000}, {900, 1000, 6001}}) {
    for (const auto& [order, op] :
         {std::pair{Order::kRows, Op::kTranspose}, {Order::kColumns, Op::kNone}}) {
      const bool by_rows = order == Order::kRows;
      // Rows or columns, as they lie, are three longer than what is used.
      const int lda = (by_rows == (op == Op::kNone) ? k : m) + 3;
      const int ldb = (by_rows == (op == Op::kNone) ? n : k) + 3;
      const int ldc = (by_rows ? n : m) + 3;
      const auto lines = [&](int ld, int one, int other) {
        return static_cast<std::size_t>(ld) * static_cast<std::size_t>(ld == one + 3 ? other : one);
      };
      const auto a = small_numbers(lines(lda, m, k), 1), b = small_numbers(lines(ldb, k, n), 2);
      auto c = small_numbers(lines(ldc, m, n), 3);
      auto expected = c;
      gemm<float>(order, op, op, m, n, k, 2, a.data(), lda, b.data(), ldb, -1, c.data(), ldc);
      one_thread().gemm<float>(order, op, op, m, n, k, 2, a.data(), lda, b.data(), ldb, -1,
                               expected.data(), ldc);
      EXPECT_EQ(c, expected) << m << ' ' << n << ' ' << k;
    }
  }
}

TEST(Blas, PiecesThatNobodyWantsAreLeftOut) {
  const std::vector<double> ones(100 * 100, 1);
  std::vector<double> c(100 * 100, 5);
  const Unwanted unwanted;
  gemm<double>(Op::kNone, Op::kNone, 100, 100, 100, 1, ones.data(), 100, ones.data(), 100, 0,
               c.data(), 100);
  EXPECT_EQ(c, std::vector<double>(100 * 100, 5));
  EXPECT_THROW(attend(), Unwanted::Ended);
}

}  // namespace
}  // namespace assay::blas
