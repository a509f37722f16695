// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/fill.h"

#include <gtest/gtest.h>

#include "tensor/tensor.h"

namespace assay {
namespace {

TEST(Fill, ElementTakesItsOwnRawOutput) {
  const Philox stream(3, stream_key("a"));
  for (const std::int64_t n : {0, 1, 3, 4, 5, 1023, 1024, 1025, 5000}) {
    Tensor t(DType::kF32, {n});
    fill_uniform(t.mutable_view(), stream, -2, 3);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto raw = stream[static_cast<std::uint64_t>(i)];
      ASSERT_EQ(t.as<float>()[static_cast<std::size_t>(i)],
                static_cast<float>(uniform(raw, -2, 3)));
    }
  }
}

TEST(Fill, LayoutDoesNotChangeValues) {
  const Philox stream(4);
  Tensor dense(DType::kF64, {7, 301}), transposed(DType::kF64, {301, 7}),
      wide(DType::kF64, {7, 602});
  fill_uniform(dense.mutable_view(), stream, 0, 1);
  fill_uniform(transposed.mutable_view().transpose(), stream, 0, 1);
  fill_uniform(wide.mutable_view().slice(1, 1, 602, 2), stream, 0, 1);
  for (std::int64_t i = 0; i < 7; ++i) {
    for (std::int64_t j = 0; j < 301; ++j) {
      ASSERT_EQ(transposed.view().at<double>(j, i), dense.view().at<double>(i, j));
      ASSERT_EQ(wide.view().at<double>(i, 2 * j + 1), dense.view().at<double>(i, j));
      ASSERT_EQ(wide.view().at<double>(i, 2 * j), 0.0);
    }
  }
}

TEST(Fill, NarrowAndComplexDtypes) {
  const Philox stream(5);
  Tensor half(DType::kF16, {600}), brain(DType::kBF16, {600}), complex(DType::kC64, {600});
  fill_uniform(half.mutable_view(), stream, -1, 1);
  fill_uniform(brain.mutable_view(), stream, -1, 1);
  fill_uniform(complex.mutable_view(), stream, -1, 1);
  for (std::size_t i = 0; i < 600; ++i) {
    ASSERT_EQ(half.as<Half>()[i].bits, Half(uniform(stream[i], -1, 1)).bits);
    ASSERT_EQ(brain.as<BFloat16>()[i].bits, BFloat16(uniform(stream[i], -1, 1)).bits);
    ASSERT_EQ(complex.as<std::complex<float>>()[i],
              std::complex<float>(static_cast<float>(uniform(stream[2 * i], -1, 1)),
                                  static_cast<float>(uniform(stream[2 * i + 1], -1, 1))));
  }
}

TEST(Fill, BelowDrawsIntegersThatFit) {
  const Philox stream(6);
  Tensor t(DType::kI8, {1000}), b(DType::kBool, {1000});
  fill_below(t.mutable_view(), stream, 128);
  fill_below(b.mutable_view(), stream, 2);
  for (std::size_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(t.as<std::int8_t>()[i], static_cast<std::int8_t>(uniform_below(stream[i], 128)));
    ASSERT_EQ(b.as<bool>()[i], uniform_below(stream[i], 2) == 1);
  }
  EXPECT_THROW(fill_below(t.mutable_view(), stream, 129), InternalError);
  EXPECT_THROW(fill_below(b.mutable_view(), stream, 3), InternalError);
  EXPECT_THROW(fill_below(t.mutable_view(), stream, 0), InternalError);
  EXPECT_THROW(fill_uniform(t.mutable_view(), stream, 0, 1), InternalError);
  Tensor f(DType::kF32, {1});
  EXPECT_THROW(fill_below(f.mutable_view(), stream, 2), InternalError);
}

}  // namespace
}  // namespace assay
