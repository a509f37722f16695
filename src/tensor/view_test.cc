// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>

#include "tensor/tensor.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<double> values(const TensorView& view) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < view.element_count(); ++i) {
    result.push_back(value_as_double(view, i));
  }
  return result;
}

// 0, 1, 2, … in row-major order.
Tensor counted(Shape shape, DType dtype = DType::kF32) {
  Tensor numbers(DType::kI64, shape);
  std::iota(numbers.as<std::int64_t>().begin(), numbers.as<std::int64_t>().end(), 0);
  return Tensor::converted(numbers.view(), dtype);
}

TEST(DType, NamesSizesAndTypesAgree) {
  for (int i = 0; i <= static_cast<int>(DType::kC128); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(name_of(dtype), "t"), dtype);
    visit_dtype(dtype, [&]<typename T>(std::type_identity<T>) {
      EXPECT_EQ(kDTypeOf<T>, dtype);
      EXPECT_EQ(sizeof(T), size_of(dtype));
    });
    EXPECT_EQ(is_complex(dtype) + is_floating(dtype) + is_integer(dtype), dtype != DType::kBool);
  }
  EXPECT_EQ(name_of(DType::kBF16), "bf16");
  EXPECT_THAT([] { dtype_from_name("float", "--dtype"); },
              ThrowsMessage<UserError>(
                  "--dtype: expected a dtype (bool, u8, i8, u16, i16, u32, i32, u64, i64, f16, "
                  "bf16, f32, f64, c64, c128), got 'float'"));
  static_assert(!Element<long double> && Element<bool>);
}

TEST(Shape, CountsPrintsAndRefuses) {
  EXPECT_EQ(Shape({512, 256}).to_string(), "512x256");
  EXPECT_EQ(Shape().to_string(), "scalar");
  EXPECT_EQ(Shape().element_count(), 1);
  EXPECT_EQ(Shape({3, 0, 5}).element_count(), 0);
  EXPECT_THAT(row_major_strides(Shape{3, 0, 5}), ElementsAre(5, 5, 1));
  EXPECT_THAT(column_major_strides(Shape{3, 4, 5}), ElementsAre(1, 3, 12));
  EXPECT_THAT([] { Shape({2, -1}); }, ThrowsMessage<UserError>(HasSubstr("got 2x-1")));
  EXPECT_THROW(Shape({std::int64_t{1} << 40, std::int64_t{1} << 40}), UserError);
  // An extent of 0 does not hide strides that would overflow.
  EXPECT_THROW(Shape({0, std::int64_t{1} << 40, std::int64_t{1} << 40}), UserError);
  EXPECT_THROW(Shape(std::vector<std::int64_t>(65, 1)), UserError);
  EXPECT_EQ(Shape({Shape::kMaxElements}).element_count(), Shape::kMaxElements);
}

TEST(View, TypedAccessAndMutation) {
  Tensor t(DType::kF32, {2, 3});
  const MutableTensorView m = t.mutable_view();
  m.at<float>(1, 2) = 7;
  EXPECT_EQ(t.view().at<float>(1, 2), 7);
  EXPECT_EQ(t.as<float>()[5], 7);
  EXPECT_THROW(t.view().data<double>(), InternalError);
  EXPECT_THROW(t.as<std::int32_t>(), InternalError);
  const TensorView read = m;  // a mutable view is readable
  EXPECT_EQ(read.raw_data(), m.raw_data());
#if !defined(NDEBUG) || defined(ASSAY_SANITIZED)
  EXPECT_THROW(m.at<float>(2, 0), InternalError);
  EXPECT_THROW(m.at<float>(0), InternalError);
  EXPECT_THROW(m.at<double>(0, 0), InternalError);
#endif
}

TEST(View, SliceSelectPermute) {
  const Tensor t = counted({3, 4, 5});
  const TensorView v = t.view();
  EXPECT_THAT(values(v.select(0, 1).select(0, 2)), ElementsAre(30, 31, 32, 33, 34));
  EXPECT_THAT(values(v.select(0, 2).select(1, 3)), ElementsAre(43, 48, 53, 58));
  EXPECT_THAT(values(v.slice(0, 1, 2).slice(1, 1, 4, 2).slice(2, 0, 5, 3)),
              ElementsAre(25, 28, 35, 38));
  EXPECT_EQ(v.slice(1, 2, 2).element_count(), 0);
  EXPECT_EQ(v.slice(2, 0, 5, 100).shape(), Shape({3, 4, 1}));
  const TensorView p = v.permute(std::array<std::size_t, 3>{2, 0, 1});
  EXPECT_EQ(p.shape(), Shape({5, 3, 4}));
  EXPECT_EQ(p.at<float>(4, 1, 2), v.at<float>(1, 2, 4));
  EXPECT_EQ(v.transpose().at<float>(2, 4, 3), v.at<float>(2, 3, 4));
  EXPECT_TRUE(v.is_contiguous());
  EXPECT_FALSE(v.transpose().is_contiguous());
  EXPECT_TRUE(v.transpose().transpose().is_contiguous());
  EXPECT_TRUE(v.slice(0, 1, 3).is_contiguous());
  EXPECT_FALSE(v.slice(1, 1, 3).is_contiguous());
  EXPECT_TRUE(v.slice(0, 1, 2).slice(1, 1, 3).is_contiguous());  // extent 1: stride irrelevant
  EXPECT_THROW(v.slice(0, 0, 4), InternalError);
  EXPECT_THROW(v.slice(3, 0, 0), InternalError);
  EXPECT_THROW(v.select(1, 4), InternalError);
  EXPECT_THROW(v.permute(std::array<std::size_t, 3>{0, 0, 1}), InternalError);
}

TEST(View, NegativeStridesReadBackwards) {
  const Tensor t = counted({4});
  const TensorView reversed(DType::kF32, t.view().data<float>() + 3, Shape{4}, {-1});
  EXPECT_THAT(values(reversed), ElementsAre(3, 2, 1, 0));
  EXPECT_THAT(values(reversed.slice(0, 1, 4, 2)), ElementsAre(2, 0));
  const Tensor dense = Tensor::copy(reversed);
  EXPECT_THAT(dense.as<float>(), ElementsAre(3, 2, 1, 0));
}

TEST(View, ReshapeWhereStridesAllowIt) {
  const Tensor t = counted({4, 6});
  const TensorView v = t.view();
  EXPECT_EQ(values(*v.reshape(Shape{2, 2, 3, 2})), values(v));
  EXPECT_EQ(values(*v.reshape(Shape{24, 1, 1})), values(v));
  EXPECT_EQ(values(*v.reshape(Shape{1, 3, 8})), values(v));
  EXPECT_FALSE(v.transpose().reshape(Shape{24}).has_value());
  // Splitting an axis of a transposed view is possible, joining its axes is not.
  const auto split = v.transpose().reshape(Shape{2, 3, 4});
  ASSERT_TRUE(split.has_value());
  EXPECT_EQ(values(*split), values(v.transpose()));
  EXPECT_FALSE(v.slice(1, 0, 3).reshape(Shape{12}).has_value());
  EXPECT_EQ(values(*v.slice(1, 0, 3).reshape(Shape{2, 2, 3, 1})), values(v.slice(1, 0, 3)));
  EXPECT_TRUE(v.slice(0, 0, 0).reshape(Shape{7, 0}).has_value());
  EXPECT_EQ(values(*v.slice(0, 2, 3).slice(1, 3, 4).reshape(Shape{})), std::vector<double>{15});
  EXPECT_THROW(v.reshape(Shape{5}), InternalError);
}

TEST(View, Broadcast) {
  const Tensor t = counted({3, 1});
  EXPECT_THAT(values(t.view().broadcast(Shape{2, 3, 2})),
              ElementsAre(0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2));
  EXPECT_EQ(t.view().broadcast(Shape{3, 0}).element_count(), 0);
  EXPECT_THAT(
      [&] {
        t.view().broadcast(Shape{2, 4});
      },
      ThrowsMessage<UserError>("cannot broadcast 3x1 to 2x4"));
  EXPECT_THROW(t.view().broadcast(Shape{3}), UserError);
}

TEST(View, ValuesOfEveryDtype) {
  for (int i = 0; i <= static_cast<int>(DType::kC128); ++i) {
    const auto dtype = static_cast<DType>(i);
    const Tensor t = counted({2, 2}, dtype);
    const double expected = dtype == DType::kBool ? 1 : 3;
    EXPECT_EQ(value_as_complex(t.view(), 3), std::complex<double>(expected)) << name_of(dtype);
    EXPECT_EQ(value_as_complex(t.view().transpose(), 1),
              std::complex<double>(dtype == DType::kBool ? 1 : 2));
    if (is_complex(dtype)) {
      EXPECT_THROW(value_as_double(t.view(), 0), InternalError);
    } else {
      EXPECT_EQ(value_as_double(t.view(), 3), expected);
    }
  }
  Tensor big(DType::kI64, {1});
  big.as<std::int64_t>()[0] = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(value_as_double(big.view(), 0), 0x1p53);
  EXPECT_THROW(value_as_double(big.view(), 1), InternalError);
}

TEST(View, PointersMustBeAlignedAndPresent) {
  alignas(8) std::array<std::byte, 16> bytes{};
  EXPECT_THROW(TensorView(DType::kF32, bytes.data() + 1, Shape{1}), InternalError);
  EXPECT_NO_THROW(TensorView(DType::kF32, bytes.data() + 4, Shape{3}));
  EXPECT_THROW(TensorView(DType::kF32, nullptr, Shape{1}), InternalError);
  EXPECT_NO_THROW(TensorView(DType::kF32, nullptr, Shape{0, 3}));
  EXPECT_THROW(TensorView(DType::kF32, bytes.data(), Shape{2}, {1, 1}), InternalError);
}

}  // namespace
}  // namespace assay
