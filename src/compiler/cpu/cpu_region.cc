// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <optional>

#include "compiler/cpu/cpu_kernels.h"
#include "compiler/cpu/region_tiles.h"
#include "kernels/memory/scratch.h"
#include "kernels/threads/crew.h"
#include "kernels/tiles/blocking.h"

namespace assay::compiler {
namespace {

// Less than this is done before a helper has come.
constexpr std::int64_t kSharedElements = 1 << 14;

class CpuRegion final : public CpuKernel {
 public:
  explicit CpuRegion(const Kernel& kernel)
      : kernel_(kernel), tiles_(std::get<Region>(kernel_.work), kernel_.operands, false) {}

  std::int64_t scratch_bytes(const Bindings& symbols, int threads) override {
    bind(symbols);
    return tiles_.worker_bytes() * workers(threads);
  }

  void run(const Bindings& symbols, std::span<std::byte* const> operands, int threads) override {
    bind(symbols);
    const std::int64_t rows = tiles_.rows(), columns = tiles_.columns();
    if (rows == 0 || (columns == 0 && !tiles_.needs_whole_rows())) return;
    const int team = workers(threads);
    const kernels::AlignedArray<std::byte> memory(tiles_.worker_bytes() * team);
    const std::int64_t blocks = kernels::divide_up(rows, tiles_.tile_rows());
    // Pieces for whoever is free: of rows, and where those are few of columns.
    const std::int64_t wanted = team == 1 ? 1 : std::int64_t{8} * team;
    const std::int64_t row_pieces = std::min(blocks, wanted);
    const std::int64_t tiles = kernels::divide_up(columns, tiles_.tile_columns());
    const std::int64_t column_pieces =
        tiles_.needs_whole_rows() || tiles_.tile_rows() > 1
            ? 1
            : std::clamp<std::int64_t>(wanted / row_pieces, 1, tiles);
    std::atomic<std::int64_t> next = 0;
    kernels::share_work(team, [&](int worker) noexcept {
      std::byte* own = memory.data() + tiles_.worker_bytes() * worker;
      for (;;) {
        const std::int64_t piece = next.fetch_add(1, std::memory_order_relaxed);
        if (piece >= row_pieces * column_pieces) return;
        const auto of_blocks = kernels::share(blocks, static_cast<int>(piece / column_pieces),
                                              static_cast<int>(row_pieces));
        const auto of_tiles = kernels::share(tiles, static_cast<int>(piece % column_pieces),
                                             static_cast<int>(column_pieces));
        const std::int64_t row = of_blocks.begin * tiles_.tile_rows();
        const std::int64_t column = of_tiles.begin * tiles_.tile_columns();
        tiles_.run({row, std::min(rows, of_blocks.end * tiles_.tile_rows()) - row, column,
                    std::min(columns, of_tiles.end * tiles_.tile_columns()) - column},
                   operands, {}, own);
      }
    });
  }

 private:
  void bind(const Bindings& symbols) {
    if (bound_ == symbols) return;
    bound_.reset();
    tiles_.bind(symbols);
    bound_ = symbols;
  }
  int workers(int threads) const {
    return tiles_.rows() * tiles_.columns() < kSharedElements ? 1 : std::max(threads, 1);
  }

  const Kernel kernel_;
  RegionTiles tiles_;
  std::optional<Bindings> bound_;
};

}  // namespace

std::unique_ptr<CpuKernel> prepare_cpu_region(const Kernel& kernel) {
  return std::make_unique<CpuRegion>(kernel);
}

}  // namespace assay::compiler
