// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/region_share.h"

#include <algorithm>
#include <atomic>

#include "kernels/threads/crew.h"
#include "kernels/tiles/blocking.h"

namespace assay::compiler {

int region_team(std::int64_t elements, int threads) {
  // Less than this is done before a helper has come.
  constexpr std::int64_t kSharedElements = 1 << 14;
  return elements < kSharedElements ? 1 : std::max(threads, 1);
}

void share_region(const RegionTiles& tiles, const RegionTiles::Block& block,
                  std::span<std::byte* const> operands, const GivenElements& given,
                  std::byte* memory, int team) {
  if (block.rows == 0 || (block.columns == 0 && !tiles.needs_whole_rows())) return;
  // Pieces of rows, and where those are few of columns.
  const std::int64_t row_blocks = kernels::divide_up(block.rows, tiles.tile_rows());
  const std::int64_t column_blocks = kernels::divide_up(block.columns, tiles.tile_columns());
  const std::int64_t wanted = team == 1 ? 1 : std::int64_t{8} * team;
  const std::int64_t row_pieces = std::min(row_blocks, wanted);
  const std::int64_t column_pieces =
      tiles.needs_whole_rows() ? 1
                               : std::clamp<std::int64_t>(wanted / row_pieces, 1, column_blocks);
  std::atomic<std::int64_t> next = 0;
  kernels::share_work(team, [&](int worker) noexcept {
    for (;;) {
      const std::int64_t piece = next.fetch_add(1, std::memory_order_relaxed);
      if (piece >= row_pieces * column_pieces) return;
      const auto of_rows = kernels::share(row_blocks, static_cast<int>(piece / column_pieces),
                                          static_cast<int>(row_pieces));
      const auto of_columns = kernels::share(column_blocks, static_cast<int>(piece % column_pieces),
                                             static_cast<int>(column_pieces));
      const std::int64_t row = of_rows.begin * tiles.tile_rows();
      const std::int64_t column = of_columns.begin * tiles.tile_columns();
      tiles.run({block.row + row, std::min(block.rows, of_rows.end * tiles.tile_rows()) - row,
                 block.column + column,
                 std::min(block.columns, of_columns.end * tiles.tile_columns()) - column},
                operands, given.from(row, column), memory + tiles.worker_bytes() * worker);
    }
  });
}

}  // namespace assay::compiler
