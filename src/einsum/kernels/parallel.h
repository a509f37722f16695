// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/attend.h"
#include "kernels/threads/crew.h"

namespace assay::einsum {

// Calls f(begin, end) on contiguous parts of [0, count), one for each of `threads` threads, taken
// by as many of them as come. The parts depend on the arguments alone. f must not throw. Parts that
// nobody wants any more (base/attend.h) are left out.
template <typename F>
void parallel_parts(int threads, std::int64_t count, F&& f) {
  const auto parts = std::min<std::int64_t>(threads, count);
  if (parts <= 1) {
    if (count > 0 && still_wanted()) f(std::int64_t{0}, count);
    return;
  }
  kernels::share_items(static_cast<int>(parts), parts, [&](std::int64_t p) noexcept {
    if (still_wanted()) f(count * p / parts, count * (p + 1) / parts);
  });
}

}  // namespace assay::einsum
