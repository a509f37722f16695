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

TEST(Overlap, BytesInCommon) {
  const Tensor whole(DType::kF64, {6, 4});
  const auto all = whole.view();
  EXPECT_TRUE(share_memory(all, all.transpose()));
  EXPECT_FALSE(share_memory(all.slice(1, 0, 2), all.slice(1, 2, 4)));
  EXPECT_TRUE(share_memory(all.slice(1, 0, 3), all.slice(1, 2, 4)));
  EXPECT_FALSE(share_memory(all.slice(0, 0, 6, 2), all.slice(0, 1, 6, 2)));
  EXPECT_TRUE(share_memory(all.slice(0, 0, 6, 2), all.slice(0, 1, 6, 3)));
  EXPECT_FALSE(share_memory(all.slice(0, 2, 2), all));
  // One element over and over, and backwards: of the columns, the first three.
  const TensorView element(DType::kF64, all.data<double>() + 7, {5}, {0});
  EXPECT_TRUE(share_memory(element, all.slice(1, 3, 4)));
  EXPECT_FALSE(share_memory(element, all.slice(1, 0, 3)));
  const TensorView backwards(DType::kF64, all.data<double>() + 11, {3}, {-4});
  EXPECT_TRUE(share_memory(backwards, all.slice(1, 3, 4)));
  EXPECT_FALSE(share_memory(backwards, all.slice(1, 0, 3)));
  // Against every pair of elements.
  const auto* first = whole.view().data<double>();
  const auto share = [](const TensorView& a, const TensorView& b) {
    for (std::int64_t i = 0; i < a.extent(0) * a.extent(1); ++i) {
      for (std::int64_t j = 0; j < b.extent(0) * b.extent(1); ++j) {
        if (&a.at<double>(i / a.extent(1), i % a.extent(1)) ==
            &b.at<double>(j / b.extent(1), j % b.extent(1)))
          return true;
      }
    }
    return false;
  };
  const TensorView fixed(DType::kF64, first + 3, {2, 3}, {10, 3});
  for (std::int64_t at = 0; at < 5; ++at) {
    for (std::int64_t rows = 0; rows < 8; ++rows) {
      for (std::int64_t columns = 0; columns < 5; ++columns) {
        const TensorView moving(DType::kF64, first + at, {2, 3}, {rows, columns});
        EXPECT_EQ(share_memory(fixed, moving), share(fixed, moving)) << at << rows << columns;
      }
    }
  }
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
