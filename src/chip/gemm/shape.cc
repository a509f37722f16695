// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/gemm/shape.h"

#include <charconv>

#include "base/error.h"

namespace assay::chip {

GemmShape parse_gemm_shape(std::string_view text) {
  constexpr std::int64_t kMaxDimension = std::int64_t{1} << 31;
  GemmShape shape;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::int64_t* dimension : {&shape.m, &shape.k, &shape.n}) {
    const auto [next, error] = std::from_chars(at, end, *dimension);
    const bool last = dimension == &shape.n;
    const bool delimited = last ? next == end : next != end && *next == 'x';
    if (error != std::errc() || *dimension < 1 || *dimension > kMaxDimension || !delimited) {
      fail("expected a shape MxKxN such as 512x512x512, got '{}'", text);
    }
    at = last ? next : next + 1;
  }
  return shape;
}

std::string to_string(const GemmShape& shape) {
  return fmt::format("{}x{}x{}", shape.m, shape.k, shape.n);
}

}  // namespace assay::chip
