// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One value of any dtype of graphs, and what primitives make of it: as graph.h says, one at a time.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/error.h"
#include "compiler/graph/dtypes.h"
#include "compiler/graph/graph.h"
#include "compiler/graph/scalar.h"

namespace assay::compiler {

// Floating point in `f`, integers and bool in `i`.
struct PlainScalar {
  double f = 0;
  std::int64_t i = 0;
};

template <typename T>
PlainScalar plain_of(T value) {
  if constexpr (kIsFloating<T>)
    return {.f = widened(value)};
  else
    return {.i = static_cast<std::int64_t>(value)};
}
template <typename T>
T narrowed_plain(PlainScalar value) {
  if constexpr (kIsFloating<T>)
    return narrowed<T>(value.f);
  else
    return static_cast<T>(value.i);
}

inline PlainScalar load_plain(DType dtype, const std::byte* data, std::int64_t index) {
  return visit_graph_dtype(dtype, [&]<typename T>(std::type_identity<T>) {
    T value;
    std::memcpy(&value, data + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return plain_of(value);
  });
}
inline void store_plain(DType dtype, std::byte* data, std::int64_t index, PlainScalar value) {
  visit_graph_dtype(dtype, [&]<typename T>(std::type_identity<T>) {
    const T narrow = narrowed_plain<T>(value);
    std::memcpy(data + index * static_cast<std::int64_t>(sizeof(T)), &narrow, sizeof(T));
  });
}
inline PlainScalar rounded_plain(DType dtype, PlainScalar value) {
  return visit_graph_dtype(
      dtype, [&]<typename T>(std::type_identity<T>) { return plain_of(narrowed_plain<T>(value)); });
}
inline PlainScalar cast_plain(DType from, DType to, PlainScalar value) {
  return visit_graph_dtype(from, [&]<typename From>(std::type_identity<From>) {
    return visit_graph_dtype(to, [&]<typename To>(std::type_identity<To>) {
      return plain_of(converted_to<From, To>(narrowed_plain<From>(value)));
    });
  });
}

// Sums and products as wide as they are accumulated: not rounded.
inline PlainScalar add_plain(DType dtype, PlainScalar a, PlainScalar b) {
  if (is_floating(dtype)) return {.f = a.f + b.f};
  return {.i = dtype == DType::kBool ? a.i | b.i : wrapped_add(a.i, b.i)};
}
inline PlainScalar multiply_plain(DType dtype, PlainScalar a, PlainScalar b) {
  if (is_floating(dtype)) return {.f = a.f * b.f};
  return {.i = dtype == DType::kBool ? a.i & b.i : wrapped_mul(a.i, b.i)};
}
inline PlainScalar greatest_plain(DType dtype, PlainScalar a, PlainScalar b) {
  if (is_floating(dtype)) return {.f = greatest_of(a.f, b.f)};
  return {.i = greatest_of(a.i, b.i)};
}

// An elementwise primitive, its operands of `from`, its result rounded to `to`.
inline PlainScalar compute_plain(Op op, DType from, DType to, const PlainScalar* x) {
  const auto result = [&]() -> PlainScalar {
    switch (op) {
      case Op::kExp2:
        return {.f = std::exp2(x[0].f)};
      case Op::kLog2:
        return {.f = std::log2(x[0].f)};
      case Op::kSin:
        return {.f = std::sin(x[0].f)};
      case Op::kSqrt:
        return {.f = std::sqrt(x[0].f)};
      case Op::kRecip:
        return {.f = 1 / x[0].f};
      case Op::kAdd:
        return add_plain(to, x[0], x[1]);
      case Op::kMul:
        return multiply_plain(to, x[0], x[1]);
      case Op::kDiv:
        return {.f = x[0].f / x[1].f};
      case Op::kMod:
        if (is_floating(to)) return {.f = remainder_of(x[0].f, x[1].f)};
        return {.i = remainder_of(x[0].i, x[1].i)};
      case Op::kLess:
        return {.i = is_floating(from) ? x[0].f < x[1].f : x[0].i < x[1].i};
      case Op::kMax:
        return greatest_plain(to, x[0], x[1]);
      case Op::kSelect:
        return x[0].i != 0 ? x[1] : x[2];
      default:
        throw InternalError("an elementwise primitive is one of those");
    }
  }();
  return rounded_plain(to, result);
}

}  // namespace assay::compiler
