// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/overlap.h"

#include <gtest/gtest.h>

#include "tensor/tensor.h"

namespace assay {
namespace {

TEST(Overlap, ViewsOfOneTensorByWhatTheyReach) {
  const Tensor whole(DType::kF64, {6, 4});
  const auto all = whole.view();
  EXPECT_TRUE(overlap(all, all.transpose()));
  EXPECT_FALSE(overlap(all.slice(0, 0, 3), all.slice(0, 3, 6)));
  EXPECT_TRUE(overlap(all.slice(0, 0, 4), all.slice(0, 3, 6)));
  // Columns: no element in common, yet between each other.
  EXPECT_TRUE(overlap(all.slice(1, 0, 2), all.slice(1, 2, 4)));
  EXPECT_FALSE(overlap(all.slice(0, 2, 2), all));
  // Backwards from the last of the first three rows.
  const TensorView backwards(DType::kF64, all.data<double>() + 11, {12}, {-1});
  EXPECT_TRUE(overlap(backwards, all.slice(0, 0, 1)));
  EXPECT_FALSE(overlap(backwards, all.slice(0, 3, 4)));
  EXPECT_FALSE(overlap(all, Tensor(DType::kF64, {6, 4}).view()));
}

TEST(Overlap, ElementsOfOneView) {
  const Tensor whole(DType::kF32, {4, 6});
  const auto all = whole.view();
  EXPECT_FALSE(overlapping_stride(all));
  EXPECT_FALSE(overlapping_stride(all.transpose().slice(0, 0, 6, 2)));
  EXPECT_FALSE(overlapping_stride(TensorView(DType::kF32, all.raw_data(), {1, 6}, {0, -1})));
  EXPECT_EQ(overlapping_stride(TensorView(DType::kF32, all.raw_data(), {2, 3}, {0, 1})), 0);
  EXPECT_EQ(overlapping_stride(TensorView(DType::kF32, all.raw_data(), {3, 3}, {2, 1})), 2);
  EXPECT_FALSE(overlapping_stride(TensorView(DType::kF32, all.raw_data(), {0, 3}, {0, 0})));
}

}  // namespace
}  // namespace assay
