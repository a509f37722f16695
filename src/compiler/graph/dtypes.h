// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The seven dtypes of graphs: f32, f64, f16, bf16, i32, i64, bool.

#include <cstdint>
#include <type_traits>

#include "base/error.h"
#include "tensor/dtype.h"

namespace assay::compiler {

// Calls f with std::type_identity of the C++ type of a graph's dtype.
template <typename F>
decltype(auto) visit_graph_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kBool:
      return f(std::type_identity<bool>{});
    case DType::kI32:
      return f(std::type_identity<std::int32_t>{});
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
    default:
      throw InternalError("a graph has seven dtypes");
  }
}

// A value in a dtype, as the low bits of a word (Node::bits), rounded once.
std::uint64_t bits_of(DType dtype, double value);

}  // namespace assay::compiler
