// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/tensor_train.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/error.h"
#include "einsum/testing/example_tensors.h"

namespace assay::einsum {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

struct TrainError {
  std::int64_t n, rank;
  double error;
};

TEST(TensorTrain, EqualsTheKnownErrors) {
  for (const auto& row : {TrainError{8, 2, 2.7986648192e-2}, TrainError{8, 3, 2.2514916941e-3},
                          TrainError{20, 1, 2.6400539466e-1}}) {
    const auto x = hilbert(row.n);
    const auto train = tensor_train(x.view(), {.ranks = {row.rank, row.rank}});
    EXPECT_NEAR(train.relative_error, row.error, 1e-9 * row.error);
    EXPECT_NEAR(error_between(x, train_reconstruct(train.cores)), row.error, 1e-9 * row.error);
  }
}

TEST(TensorTrain, KeepsToItsTolerance) {
  const auto x = hilbert(16);
  for (const double tolerance : {1e-1, 1e-3, 1e-6, 1e-7, 2e-8, 1e-10}) {
    const auto train = tensor_train(x.view(), {.tolerance = tolerance});
    EXPECT_LE(error_between(x, train_reconstruct(train.cores)), tolerance * (1 + 1e-6))
        << tolerance;
  }
}

TEST(TensorTrain, RanksAreTheMostBesideATolerance) {
  const auto x = hilbert(8);
  const auto ranks_of = [&](const TrainOptions& options) {
    const auto train = tensor_train(x.view(), options);
    return std::pair(train.cores[0].shape()[2], train.cores[1].shape()[2]);
  };
  const auto [first, second] = ranks_of({.tolerance = 1e-2});
  ASSERT_LT(first, 5);
  EXPECT_EQ(ranks_of({.ranks = {5, 5}, .tolerance = 1e-2}), std::pair(first, second));
  EXPECT_EQ(ranks_of({.ranks = {2, 5}, .tolerance = 1e-12}).first, 2);
  // Without one, not even what is zero goes.
  const Tensor zeros(DType::kF64, Shape({3, 3, 3}));
  EXPECT_EQ(tensor_train(zeros.view(), {.ranks = {2, 2}}).cores[1].shape(), Shape({2, 3, 2}));
}

TEST(TensorTrain, RoundingEqualsDecomposingAnew) {
  const auto x = hilbert(9);
  const auto exact = tensor_train(x.view(), {.tolerance = 1e-14});
  const auto rounded = round_train(exact.cores, {.ranks = {3, 3}});
  const auto direct = tensor_train(x.view(), {.ranks = {3, 3}});
  EXPECT_NEAR(rounded.relative_error, direct.relative_error, 1e-9);
  EXPECT_NEAR(error_between(x, train_reconstruct(rounded.cores)), direct.relative_error, 1e-9);
}

TEST(TensorTrain, OneModeAndOneElement) {
  Tensor v(DType::kF32, Shape({5}));
  fill_uniform(v.mutable_view(), Philox(3), -1, 1);
  const auto d = tensor_train(v.view(), {.tolerance = 0});
  ASSERT_EQ(d.cores.size(), 1u);
  EXPECT_LT(error_between(v, train_reconstruct(d.cores)), 1e-7);
}

TEST(TensorTrain, SaysWhatItCannotDo) {
  const auto x = hilbert(3);
  EXPECT_THAT([&] { tensor_train(x.view(), {.ranks = {2}}); },
              ThrowsMessage<UserError>(HasSubstr("1 ranks for 3 modes")));
  for (const auto& [first, second] : {std::pair(4, 3), {3, 4}, {9, 9}}) {
    EXPECT_THAT(
        [&] {
          tensor_train(x.view(), {.ranks = {first, second}});
        },
        ThrowsMessage<UserError>(HasSubstr("is from 1 to 3, which shape")));
  }
}

}  // namespace
}  // namespace assay::einsum
