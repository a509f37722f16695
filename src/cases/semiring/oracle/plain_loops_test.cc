// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/semiring/oracle/plain_loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "tensor/tensor.h"

namespace assay::cases::semiring::oracle {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsNan;

constexpr double kInf = std::numeric_limits<double>::infinity();

template <typename T>
Tensor matrix(DType dtype, std::int64_t rows, std::int64_t columns, const std::vector<T>& values) {
  Tensor t(dtype, Shape{rows, columns});
  std::copy(values.begin(), values.end(), t.as<T>().begin());
  return t;
}
Tensor f64(std::int64_t rows, std::int64_t columns, const std::vector<double>& values) {
  return matrix<double>(DType::kF64, rows, columns, values);
}

std::vector<double> product(std::string_view algebra, const Tensor& a, const Tensor& b) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(a.shape()[0]));
  std::iota(rows.begin(), rows.end(), 0);
  return matmul_rows(algebra, a.view(), b.view(), rows);
}

// By hand: A = (1 2; 3 4), B = (5 6; 7 8).
TEST(PlainLoops, EveryAlgebraByHand) {
  const Tensor a = f64(2, 2, {1, 2, 3, 4}), b = f64(2, 2, {5, 6, 7, 8});
  EXPECT_THAT(product("real", a, b), ElementsAre(19, 22, 43, 50));
  EXPECT_THAT(product("max_plus", a, b), ElementsAre(9, 10, 11, 12));
  EXPECT_THAT(product("min_plus", a, b), ElementsAre(6, 7, 8, 9));
  EXPECT_THAT(product("euclidean", a, b),
              ElementsAre(DoubleNear(std::sqrt(41), 1e-15), DoubleNear(std::sqrt(61), 1e-15),
                          DoubleNear(std::sqrt(13), 1e-15), DoubleNear(5, 1e-15)));
  const auto soft = [](double x, double y) {
    return DoubleNear(std::log(std::exp(x) + std::exp(y)), 1e-14);
  };
  EXPECT_THAT(product("log", a, b), ElementsAre(soft(6, 9), soft(7, 10), soft(8, 11), soft(9, 12)));
}

TEST(PlainLoops, ExtremesStayWhatTheyAre) {
  const Tensor a = f64(1, 2, {-kInf, -kInf}), b = f64(2, 1, {3, 4});
  EXPECT_THAT(product("log", a, b), ElementsAre(-kInf));
  EXPECT_THAT(product("max_plus", f64(1, 2, {kInf, 0}), f64(2, 1, {-kInf, 0})),
              ElementsAre(IsNan()));
  EXPECT_THAT(product("log", f64(1, 2, {2000, 0}), f64(2, 1, {0, 0})), ElementsAre(2000));
  EXPECT_THAT(product("euclidean", f64(1, 2, {3e160, 0}), f64(2, 1, {0, 4e160})),
              ElementsAre(DoubleNear(5e160, 1e145)));
  EXPECT_THAT(product("euclidean", f64(1, 2, {3e-170, 0}), f64(2, 1, {0, 4e-170})),
              ElementsAre(DoubleNear(5e-170, 1e-185)));
  EXPECT_THAT(product("real", Tensor(DType::kF64, Shape{1, 0}), Tensor(DType::kF64, Shape{0, 2})),
              ElementsAre(0, 0));
}

TEST(PlainLoops, OnlyTheRowsAskedFor) {
  const Tensor a = f64(3, 1, {1, 2, 3}), b = f64(1, 1, {10});
  const std::array<std::int64_t, 2> rows = {0, 2};
  EXPECT_THAT(matmul_rows("real", a.view(), b.view(), rows), ElementsAre(10, 30));
}

// Two vertices: the first with slots (source 1, weight 2) and (source 0, weight −1), the second
// with none. W = (1 2; 0 1; 1 0), x = (1 2; 3 4): W x_0 = (5, 2, 1), W x_1 = (11, 4, 3).
TEST(PlainLoops, EdgesByHand) {
  const Tensor v = f64(2, 2, {2, -1, 5, 5});
  const Tensor idx = matrix<std::int32_t>(DType::kI32, 2, 2, {1, 0, -1, -1});
  const Tensor x = f64(2, 2, {1, 2, 3, 4}), w = f64(3, 2, {1, 2, 0, 1, 1, 0});
  const std::array<std::int64_t, 2> rows = {0, 1};
  EXPECT_THAT(edge_rows(true, v.view(), idx.view(), x.view(), w.view(), rows),
              ElementsAre(17, 6, 5, 0, 0, 0));
  EXPECT_THAT(edge_rows(false, v.view(), idx.view(), x.view(), w.view(), rows),
              ElementsAre(22, 8, 6, -kInf, -kInf, -kInf));
}

}  // namespace
}  // namespace assay::cases::semiring::oracle
