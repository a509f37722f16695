// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "tensor/half.h"

namespace assay {

// The element types of tensors.
enum class DType : std::uint8_t {
  kBool,
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kU64,
  kI64,
  kF16,
  kBF16,
  kF32,
  kF64,
  kC64,
  kC128
};

// Calls f with std::type_identity<T> of the C++ type T that holds one element; returns what f
// returns, which must be of one type for all.
//
//   visit_dtype(view.dtype(), [&]<typename T>(std::type_identity<T>) { …view.data<T>()… });
template <typename F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kBool:
      return f(std::type_identity<bool>{});
    case DType::kU8:
      return f(std::type_identity<std::uint8_t>{});
    case DType::kI8:
      return f(std::type_identity<std::int8_t>{});
    case DType::kU16:
      return f(std::type_identity<std::uint16_t>{});
    case DType::kI16:
      return f(std::type_identity<std::int16_t>{});
    case DType::kU32:
      return f(std::type_identity<std::uint32_t>{});
    case DType::kI32:
      return f(std::type_identity<std::int32_t>{});
    case DType::kU64:
      return f(std::type_identity<std::uint64_t>{});
    case DType::kI64:
      return f(std::type_identity<std::int64_t>{});
    case DType::kF16:
      return f(std::type_identity<Half>{});
    case DType::kBF16:
      return f(std::type_identity<BFloat16>{});
    case DType::kF32:
      return f(std::type_identity<float>{});
    case DType::kF64:
      return f(std::type_identity<double>{});
    case DType::kC64:
      return f(std::type_identity<std::complex<float>>{});
    case DType::kC128:
      return f(std::type_identity<std::complex<double>>{});
  }
  throw InternalError("a DType is one of its enumerators");
}

namespace dtype_detail {

template <typename T>
struct Of;
template <>
struct Of<bool> : std::integral_constant<DType, DType::kBool> {};
template <>
struct Of<std::uint8_t> : std::integral_constant<DType, DType::kU8> {};
template <>
struct Of<std::int8_t> : std::integral_constant<DType, DType::kI8> {};
template <>
struct Of<std::uint16_t> : std::integral_constant<DType, DType::kU16> {};
template <>
struct Of<std::int16_t> : std::integral_constant<DType, DType::kI16> {};
template <>
struct Of<std::uint32_t> : std::integral_constant<DType, DType::kU32> {};
template <>
struct Of<std::int32_t> : std::integral_constant<DType, DType::kI32> {};
template <>
struct Of<std::uint64_t> : std::integral_constant<DType, DType::kU64> {};
template <>
struct Of<std::int64_t> : std::integral_constant<DType, DType::kI64> {};
template <>
struct Of<Half> : std::integral_constant<DType, DType::kF16> {};
template <>
struct Of<BFloat16> : std::integral_constant<DType, DType::kBF16> {};
template <>
struct Of<float> : std::integral_constant<DType, DType::kF32> {};
template <>
struct Of<double> : std::integral_constant<DType, DType::kF64> {};
template <>
struct Of<std::complex<float>> : std::integral_constant<DType, DType::kC64> {};
template <>
struct Of<std::complex<double>> : std::integral_constant<DType, DType::kC128> {};

}  // namespace dtype_detail

// A C++ type that is the element of some DType.
template <typename T>
concept Element = requires {
  { dtype_detail::Of<T>::value } -> std::convertible_to<DType>;
};

// The DType whose element is T: kDTypeOf<float> is DType::kF32.
template <Element T>
inline constexpr DType kDTypeOf = dtype_detail::Of<T>::value;

// Bytes of one element.
std::size_t size_of(DType dtype);
// What a pointer to elements must be a multiple of, in bytes (a complex value aligns as its parts).
std::size_t alignment_of(DType dtype);

// "bool", "u8", "i8", …, "f16", "bf16", "f32", "f64", "c64", "c128".
std::string_view name_of(DType dtype);
// Inverse of name_of. Throws UserError that names `what` and the text and lists the names.
DType dtype_from_name(std::string_view name, std::string_view what);

bool is_complex(DType dtype);
// f16, bf16, f32, f64.
bool is_floating(DType dtype);
// u8 … i64; not bool.
bool is_integer(DType dtype);

}  // namespace assay
