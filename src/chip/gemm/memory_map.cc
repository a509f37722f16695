// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/gemm/memory_map.h"

#include <algorithm>

#include "chip/kernel/whole_parts.h"

namespace assay::chip {
std::int64_t burst_count(const Block& block, std::int64_t burst_bytes) {
  const auto touched = [&](std::int64_t begin, std::int64_t bytes) {
    return (begin + bytes - 1) / burst_bytes - begin / burst_bytes + 1;
  };
  if (block.row_bytes == block.stride) return touched(block.address, block.bytes());
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < block.rows; ++row) {
    count += touched(block.address + row * block.stride, block.row_bytes);
  }
  return count;
}

MemoryMap::MemoryMap(const GemmShape& shape, const Topology& topology)
    : shape_(shape), tile_(topology.tile), layout_(topology.hbm.layout) {
  const std::int64_t burst = topology.hbm.burst_bytes;
  const std::int64_t line = burst * topology.hbm.channels;  // one burst in every channel
  const std::int64_t m_tiles = ceil_div(shape.m, tile_.m);
  k_tiles_ = ceil_div(shape.k, tile_.k);
  n_tiles_ = ceil_div(shape.n, tile_.n);
  const std::int64_t element = tile_.element_bytes;
  a_stride_ = round_up(tile_.m * tile_.k * element, burst);
  b_stride_ = round_up(tile_.k * tile_.n * element, burst);
  c_stride_ = round_up(tile_.m * tile_.n * element, burst);
  // Both layouts fit into the padded size.
  b_base_ = a_base_ + round_up(m_tiles * k_tiles_ * a_stride_, line);
  c_base_ = b_base_ + round_up(k_tiles_ * n_tiles_ * b_stride_, line);
}

Block MemoryMap::row_major(std::int64_t base, std::int64_t row, std::int64_t height,
                           std::int64_t rows, std::int64_t column, std::int64_t width,
                           std::int64_t columns) const {
  const std::int64_t element = tile_.element_bytes;
  const std::int64_t top = row * height, left = column * width;
  return {base + (top * columns + left) * element, std::min(width, columns - left) * element,
          columns * element, std::min(height, rows - top)};
}

Block MemoryMap::a_tile(std::int64_t i, std::int64_t k) const {
  if (layout_ == Layout::kRowMajor) {
    return row_major(a_base_, i, tile_.m, shape_.m, k, tile_.k, shape_.k);
  }
  return {a_base_ + (i * k_tiles_ + k) * a_stride_, a_stride_, a_stride_, 1};
}

Block MemoryMap::b_tile(std::int64_t k, std::int64_t j) const {
  if (layout_ == Layout::kRowMajor) {
    return row_major(b_base_, k, tile_.k, shape_.k, j, tile_.n, shape_.n);
  }
  return {b_base_ + (j * k_tiles_ + k) * b_stride_, b_stride_, b_stride_, 1};
}

Block MemoryMap::c_tile(std::int64_t i, std::int64_t j) const {
  if (layout_ == Layout::kRowMajor) {
    return row_major(c_base_, i, tile_.m, shape_.m, j, tile_.n, shape_.n);
  }
  return {c_base_ + (i * n_tiles_ + j) * c_stride_, c_stride_, c_stride_, 1};
}

Block MemoryMap::a_panel(std::int64_t i) const {
  if (layout_ == Layout::kRowMajor) {
    return row_major(a_base_, i, tile_.m, shape_.m, 0, shape_.k, shape_.k);
  }
  return {a_base_ + i * k_tiles_ * a_stride_, k_tiles_ * a_stride_, k_tiles_ * a_stride_, 1};
}

Block MemoryMap::b_panel(std::int64_t j) const {
  if (layout_ == Layout::kRowMajor) {
    return row_major(b_base_, 0, shape_.k, shape_.k, j, tile_.n, shape_.n);
  }
  return {b_base_ + j * k_tiles_ * b_stride_, k_tiles_ * b_stride_, k_tiles_ * b_stride_, 1};
}

}  // namespace assay::chip
