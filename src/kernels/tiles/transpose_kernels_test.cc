// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles/transpose_kernels.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "kernels/targets.h"

namespace assay::kernels {
namespace {

// Around the block, the line and the block of tiles; runs and planes with gaps.
template <typename T>
void check_transposition(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kPlanes = 2, kGap = 3;
  const std::int64_t a_stride = rows + kGap, c_stride = columns + kGap;
  const std::int64_t a_plane = columns * a_stride + 1, c_plane = rows * c_stride + 1;
  std::vector<T> a(static_cast<std::size_t>(kPlanes * a_plane));
  std::iota(a.begin(), a.end(), T{1});
  std::vector<T> c(static_cast<std::size_t>(kPlanes * c_plane), T{-1}), expected = c;
  for (std::int64_t p = 0; p < kPlanes; ++p) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        expected[static_cast<std::size_t>(p * c_plane + i * c_stride + j)] =
            a[static_cast<std::size_t>(p * a_plane + i + j * a_stride)];
      }
    }
  }
  transpose_kernel(T{})(kPlanes, rows, columns, {a.data(), a_stride, a_plane},
                        {c.data(), c_stride, c_plane});
  EXPECT_EQ(c, expected) << rows << " x " << columns;
}

TEST(Transpose, MovesEveryElementOnEveryInstructionSet) {
  for (const auto& set : instruction_sets()) {
    SCOPED_TRACE(set.name);
    const OnlyInstructionSet only(set);
    for (const std::int64_t rows : {0, 1, 3, 4, 5, 63, 64, 67}) {
      for (const std::int64_t columns : {0, 1, 2, 4, 7, 15, 16, 18}) {
        check_transposition<float>(rows, columns);
        check_transposition<double>(rows, columns);
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels
