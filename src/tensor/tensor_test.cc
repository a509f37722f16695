// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "tensor/convert.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

template <typename T>
Tensor vector_of(std::initializer_list<T> values) {
  Tensor t(kDTypeOf<T>, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.as<T>().begin());
  return t;
}

TEST(Tensor, IsZeroedAlignedAndMoves) {
  for (const std::int64_t n : {0, 1, 63, 1000}) {
    Tensor t(DType::kF64, {n});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(t.view().raw_data()) % Tensor::kAlignment, 0u);
    for (const double x : t.as<double>()) EXPECT_EQ(x, 0.0);
    EXPECT_EQ(t.byte_count(), n * 8);
    const TensorView before = t.view();
    const Tensor moved = std::move(t);
    EXPECT_EQ(moved.view().raw_data(), before.raw_data());
  }
  static_assert(!std::is_copy_constructible_v<Tensor> &&
                std::is_nothrow_move_constructible_v<Tensor>);
}

TEST(Tensor, CopiesAnyLayoutRowMajor) {
  Tensor t(DType::kI32, {2, 3, 4});
  for (int i = 0; i < 24; ++i) t.as<std::int32_t>()[static_cast<std::size_t>(i)] = i;
  const std::array<std::size_t, 3> order = {1, 2, 0};
  const Tensor permuted = Tensor::copy(t.view().permute(order).slice(1, 1, 4, 2));
  EXPECT_EQ(permuted.shape(), Shape({3, 2, 2}));
  EXPECT_THAT(permuted.as<std::int32_t>(), ElementsAre(1, 13, 3, 15, 5, 17, 7, 19, 9, 21, 11, 23));
  const Tensor repeated = Tensor::copy(t.view().slice(2, 3, 4).broadcast(Shape{2, 3, 2}));
  EXPECT_THAT(repeated.as<std::int32_t>(), ElementsAre(3, 3, 7, 7, 11, 11, 15, 15, 19, 19, 23, 23));
  const Tensor scalar = Tensor::copy(t.view().select(0, 1).select(0, 1).select(0, 1));
  EXPECT_THAT(scalar.as<std::int32_t>(), ElementsAre(17));
}

TEST(Tensor, ConvertsIntoStridedTargets) {
  const Tensor source = vector_of<double>({1, 2, 3});
  Tensor target(DType::kF32, {3, 2});
  convert_into(source.view(), target.mutable_view().select(1, 1));
  EXPECT_THAT(target.as<float>(), ElementsAre(0, 1, 0, 2, 0, 3));
}

TEST(Convert, FloatToFloatRoundsOnce) {
  const double tie = 1 + 0x1p-11, beside = tie + 0x1p-40;  // float rounds `beside` to the tie
  const Tensor t = vector_of<double>({tie, beside, 1e300, -INFINITY, NAN, -0.0});
  const Tensor half = Tensor::converted(t.view(), DType::kF16);
  EXPECT_EQ(value_as_double(half.view(), 0), 1.0);
  EXPECT_EQ(value_as_double(half.view(), 1), 1.0 + 0x1p-10);
  EXPECT_EQ(value_as_double(half.view(), 2), INFINITY);
  EXPECT_EQ(value_as_double(half.view(), 3), -INFINITY);
  EXPECT_TRUE(std::isnan(value_as_double(half.view(), 4)));
  EXPECT_TRUE(std::signbit(value_as_double(half.view(), 5)));
  const Tensor back = Tensor::converted(half.view(), DType::kC128);
  EXPECT_EQ(value_as_complex(back.view(), 1), std::complex<double>(1.0 + 0x1p-10, 0));
}

TEST(Convert, LargeIntegersRoundOnce) {
  // 2^62 + 2^54 is a tie of bf16 between 2^62 and 2^62 + 2^55; one more must round up, although
  // double cannot tell the two apart.
  const std::int64_t tie = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);
  const Tensor t =
      vector_of<std::int64_t>({tie, tie + 1, -tie - 1, std::numeric_limits<std::int64_t>::min()});
  const Tensor b = Tensor::converted(t.view(), DType::kBF16);
  EXPECT_EQ(value_as_double(b.view(), 0), 0x1p62);
  EXPECT_EQ(value_as_double(b.view(), 1), 0x1p62 + 0x1p55);
  EXPECT_EQ(value_as_double(b.view(), 2), -0x1p62 - 0x1p55);
  EXPECT_EQ(value_as_double(b.view(), 3), -0x1p63);
  const std::int64_t float_tie = (std::int64_t{1} << 60) + (std::int64_t{1} << 36);
  const Tensor u = vector_of<std::int64_t>({float_tie, float_tie + 1});
  const Tensor f = Tensor::converted(u.view(), DType::kF32);
  EXPECT_EQ(value_as_double(f.view(), 0), 0x1p60);
  EXPECT_EQ(value_as_double(f.view(), 1), 0x1p60 + 0x1p37);
}

TEST(Convert, ToIntegersCutsAndRefusesWhatDoesNotFit) {
  const Tensor fine = vector_of<double>({-128.9, 127.9, 0.5, -0.5});
  EXPECT_THAT(Tensor::converted(fine.view(), DType::kI8).as<std::int8_t>(),
              ElementsAre(-128, 127, 0, 0));
  const auto refusal = [](const Tensor& t, DType dtype) {
    try {
      Tensor::converted(t.view(), dtype);
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal(vector_of<double>({1, 128}), DType::kI8),
            "element 1 of a f64 tensor has no value as i8: 128");
  EXPECT_EQ(refusal(vector_of<double>({1, NAN}), DType::kI64),
            "element 1 of a f64 tensor has no value as i64: nan");
  EXPECT_THAT(refusal(vector_of<float>({-1}), DType::kU32), HasSubstr("element 0"));
  EXPECT_THAT(refusal(vector_of<double>({0x1p63}), DType::kI64), HasSubstr("element 0"));
  EXPECT_EQ(refusal(vector_of<double>({-0x1p63}), DType::kI64), "accepted");
  EXPECT_THAT(refusal(vector_of<double>({0x1p64}), DType::kU64), HasSubstr("element 0"));
  EXPECT_EQ(refusal(vector_of<double>({0x1.fffffffffffffp63}), DType::kU64), "accepted");
  EXPECT_THAT(refusal(vector_of<std::int32_t>({-1}), DType::kU64), HasSubstr("element 0"));
  EXPECT_THAT(refusal(vector_of<Half>({Half(INFINITY)}), DType::kI32), HasSubstr("inf"));
  EXPECT_EQ(refusal(vector_of<std::complex<float>>({{1, 0}}), DType::kF64),
            "a c64 tensor cannot be converted to the real dtype f64");
}

TEST(Convert, ToBoolIsNotZero) {
  const Tensor t = vector_of<float>({0, -0.0f, 1e-45f, NAN});
  EXPECT_THAT(Tensor::converted(t.view(), DType::kBool).as<bool>(),
              ElementsAre(false, false, true, true));
  const Tensor c = vector_of<std::complex<double>>({{0, 0}, {0, 1}});
  EXPECT_THAT(Tensor::converted(c.view(), DType::kBool).as<bool>(), ElementsAre(false, true));
}

TEST(Convert, EveryPairOfDtypesKeepsSmallIntegers) {
  Tensor numbers(DType::kI32, {3});
  numbers.as<std::int32_t>()[1] = 1;
  numbers.as<std::int32_t>()[2] = 100;
  for (int i = 0; i <= static_cast<int>(DType::kC128); ++i) {
    const Tensor from = Tensor::converted(numbers.view(), static_cast<DType>(i));
    for (int j = 0; j <= static_cast<int>(DType::kC128); ++j) {
      const auto to = static_cast<DType>(j);
      if (is_complex(from.dtype()) && !is_complex(to) && to != DType::kBool) continue;
      const Tensor result = Tensor::converted(from.view(), to);
      const bool through_bool = from.dtype() == DType::kBool || to == DType::kBool;
      EXPECT_EQ(value_as_complex(result.view(), 0), 0.0);
      EXPECT_EQ(value_as_complex(result.view(), 1), 1.0);
      EXPECT_EQ(value_as_complex(result.view(), 2), through_bool ? 1.0 : 100.0)
          << name_of(from.dtype()) << " to " << name_of(to);
    }
  }
}

}  // namespace
}  // namespace assay
