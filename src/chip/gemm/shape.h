// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::chip {

// C (m x n) = A (m x k) times B (k x n).
struct GemmShape {
  std::int64_t m = 0, k = 0, n = 0;
  friend bool operator==(const GemmShape&, const GemmShape&) = default;
};

// "512x512x512", M then K then N, each 1 … 2^31. Throws UserError naming the text.
GemmShape parse_gemm_shape(std::string_view text);
std::string to_string(const GemmShape& shape);

}  // namespace assay::chip
