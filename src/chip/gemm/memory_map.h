// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the three matrices lie in memory, and which bursts a tile of them touches.
//
// tile_contiguous: each (padded) tile is one run of bytes, starting on a burst; the tiles of a row
// of A and of a column of B follow one another along K. Every byte of a burst is used.
// row_major: the matrix lies as it is, without padding; each row of a tile is a run of its own, and
// a run shorter than a burst wastes the rest of it.

#include <cstdint>

#include "chip/gemm/shape.h"
#include "chip/topology/topology.h"

namespace assay::chip {

// `rows` runs of `row_bytes` each, `stride` bytes apart.
struct Block {
  std::int64_t address = 0;
  std::int64_t row_bytes = 0;
  std::int64_t stride = 0;
  std::int64_t rows = 0;

  std::int64_t bytes() const { return rows * row_bytes; }  // without what bursts waste
};

// Calls visit(burst number) for every burst that the block touches, in the order of the addresses.
// Runs that touch are one run.
template <typename Visit>
void for_each_burst(Block block, std::int64_t burst_bytes, Visit visit) {
  if (block.row_bytes == block.stride) block = {block.address, block.bytes(), block.bytes(), 1};
  for (std::int64_t row = 0; row < block.rows; ++row) {
    const std::int64_t begin = block.address + row * block.stride;
    const std::int64_t last = begin + block.row_bytes - 1;
    for (std::int64_t burst = begin / burst_bytes; burst <= last / burst_bytes; ++burst) {
      visit(burst);
    }
  }
}

std::int64_t burst_count(const Block& block, std::int64_t burst_bytes);

class MemoryMap {
 public:
  MemoryMap(const GemmShape& shape, const Topology& topology);

  // One tile: row i, column k of A's tiles; and so on.
  Block a_tile(std::int64_t i, std::int64_t k) const;
  Block b_tile(std::int64_t k, std::int64_t j) const;
  Block c_tile(std::int64_t i, std::int64_t j) const;
  // All tiles along K: what is loaded up front.
  Block a_panel(std::int64_t i) const;
  Block b_panel(std::int64_t j) const;

 private:
  // A tile at (row, column) of tiles of height x width, in a matrix of rows x columns elements.
  Block row_major(std::int64_t base, std::int64_t row, std::int64_t height, std::int64_t rows,
                  std::int64_t column, std::int64_t width, std::int64_t columns) const;

  GemmShape shape_;
  TileTopology tile_;
  Layout layout_;
  std::int64_t k_tiles_, n_tiles_;
  std::int64_t a_stride_, b_stride_, c_stride_;  // bytes from one contiguous tile to the next
  std::int64_t a_base_ = 0, b_base_, c_base_;
};

}  // namespace assay::chip
