// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "kernels/bf16/pair_units.h"

namespace assay::kernels {
namespace {

// As units do, what is less than normal counts as 0.
template <bool kExactly>
float widened(std::uint16_t bits) {
  if (!kExactly && (bits & 0x7f80) == 0) bits &= 0x8000;
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// Any layout. A product is exact, so that it need not be fused with its addition.
template <bool kExactly>
void plain_tile(const PairUnit& unit, int width, const PairTile& t) {
  const std::int64_t of_row = unit.row_group, of_column = unit.column_group;
  for (std::int64_t i = 0; i < unit.rows; ++i) {
    float sums[PairUnit::kMostWidth] = {};
    for (std::int64_t l = 0; l < t.terms; ++l) {
      const Bf16Pair left = t.panel[(l / of_row * unit.rows + i) * of_row + l % of_row];
      const float first = widened<kExactly>(left.first), second = widened<kExactly>(left.second);
      const Bf16Pair* right = t.x + l / of_column * width * of_column + l % of_column;
      for (int j = 0; j < width; ++j) {
        const Bf16Pair pair = right[j * of_column];
        sums[j] = sums[j] + first * widened<kExactly>(pair.first) +
                  second * widened<kExactly>(pair.second);
      }
    }
    float* to = t.sums + i * t.sums_stride;
    for (int j = 0; j < width; ++j) to[j] = t.accumulate ? to[j] + sums[j] : sums[j];
  }
}

}  // namespace

void multiply_pairs(const PairUnit& unit, int vectors, const PairTile& tile, bool exactly) {
  const auto native = unit.tile[static_cast<std::size_t>(vectors - 1)];
  if (exactly)
    plain_tile<true>(unit, vectors * unit.lanes, tile);
  else if (native == nullptr)
    plain_tile<false>(unit, vectors * unit.lanes, tile);
  else
    native(tile);
}

}  // namespace assay::kernels
