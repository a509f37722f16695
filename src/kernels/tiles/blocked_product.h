// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The blocked product that every dense route shares: pack panels, multiply tiles, finish each tile
// while it is in cache.
//
//   for each block of columns and of rows (bounds memory)
//     for each block of terms
//       for right panels that fit L2, for each left panel (L1), for each right panel
//         pack what nobody has packed yet, multiply, finish
//
// Threads share out the two inner loops (product_progress.h), and whatever number of them comes,
// each entry is summed in one order: results are bitwise equal from run to run and for every number
// of threads.

#include <cstdint>

#include "kernels/tiles/blocking.h"
#include "kernels/tiles/pack_kernels.h"
#include "kernels/tiles/tile_kernels.h"

namespace assay::kernels {

// What is multiplied: how its panels are made, and what becomes of a finished tile.
template <typename T>
class Operands {
 public:
  virtual ~Operands() = default;

  // Packs `count` rows of the left factor (columns of the right one) from `first` on, terms
  // [begin, begin + terms), as a panel of the tiles' width; returns its PanelFlags, where tiles()
  // asks for them. Called from several threads at once, for one panel in the order of the terms;
  // never throws.
  virtual std::uint8_t pack_left(std::int64_t first, int count, std::int64_t begin,
                                 std::int64_t terms, T* panel) const noexcept = 0;
  virtual std::uint8_t pack_right(std::int64_t first, int count, std::int64_t begin,
                                  std::int64_t terms, T* panel) const noexcept = 0;
  // Where a right panel lies, if it is packed by copying it as it is, whatever it contains: then
  // the first tile that needs it may pack it. Null data: pack_right() must.
  virtual PanelSource<T> plain_right(std::int64_t /*first*/, int /*count*/, std::int64_t /*begin*/,
                                     std::int64_t /*terms*/) const noexcept {
    return {};
  }
  // How many terms from `begin` on make one block, `most` at most: for factors whose terms are best
  // packed in groups.
  virtual std::int64_t block_terms(std::int64_t /*begin*/, std::int64_t most) const noexcept {
    return most;
  }
  // Whether products and sums that are denormal may become 0: what is lost does not matter.
  virtual bool may_flush_denormals() const noexcept { return false; }
  // The tiles for a pair of panels; all have one shape.
  virtual const TileKernels<T>& tiles(std::uint8_t left_flags,
                                      std::uint8_t right_flags) const noexcept = 0;
  // Rows [row, row + rows) × columns [column, column + columns) of C hold their sums. `thread` is
  // below the number that was asked for, and no two at once have the same.
  virtual void finish(std::int64_t /*row*/, int /*rows*/, std::int64_t /*column*/, int /*columns*/,
                      int /*thread*/) const noexcept {}
};

// Where the result goes: row-major, columns contiguous.
template <typename T>
struct Output {
  T* data;
  std::int64_t row_stride;
  bool accumulate = false;  // adds to what is there
};

// C = A ⊗ B for (m,k)·(k,n), m and n at least 1; k = 0 writes nothing (no tile is finished).
// Memory: (rows + columns)·terms elements of `blocking`, twice that with several threads, allocated
// and freed.
template <typename T>
void blocked_product(const Operands<T>& operands, std::int64_t m, std::int64_t k, std::int64_t n,
                     const Output<T>& c, const Blocking& blocking, int threads);

extern template void blocked_product(const Operands<float>&, std::int64_t, std::int64_t,
                                     std::int64_t, const Output<float>&, const Blocking&, int);
extern template void blocked_product(const Operands<double>&, std::int64_t, std::int64_t,
                                     std::int64_t, const Output<double>&, const Blocking&, int);
extern template void blocked_product(const Operands<std::uint32_t>&, std::int64_t, std::int64_t,
                                     std::int64_t, const Output<std::uint32_t>&, const Blocking&,
                                     int);

}  // namespace assay::kernels
