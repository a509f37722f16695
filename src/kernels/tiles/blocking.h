// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a product is cut so that each level of the memory hierarchy holds what is used again.

#include <cstdint>

#include "kernels/tiles/caches.h"

namespace assay::kernels {

constexpr std::int64_t divide_up(std::int64_t x, std::int64_t by) { return (x + by - 1) / by; }

struct Blocking {
  std::int64_t terms;          // of the sum that are done at once: a left panel fills half of L1
  std::int64_t right_panels;   // in a quarter of L2, streamed through L1 for each left panel
  std::int64_t rows, columns;  // that are packed at once: bounds the memory for packing
};

// For a product (m,k)·(k,n) of elements of `size` bytes with panels of `left_width` and
// `right_width` elements per term. The terms of all blocks are about equal and at most
// `most_terms`; every number is at least 1.
Blocking blocking_for(const CacheSizes& caches, std::int64_t m, std::int64_t k, std::int64_t n,
                      std::int64_t size, std::int64_t left_width, std::int64_t right_width,
                      std::int64_t most_terms);

// The most terms that may be added up one after the other, block by block and then the blocks'
// sums, so that no more than `roundings` roundings meet in one result of k terms: the largest b ≤
// limit with b + ⌈k/b⌉ ≤ roundings; where there is none, the b with the fewest.
std::int64_t terms_for_roundings(std::int64_t k, double roundings, std::int64_t limit);

// How many threads share a grid of left × right panels along each of its sides.
struct ThreadGrid {
  int left, right;
};

// The factorisation of `threads` whose largest share costs least: its tiles, and its panels of both
// factors, each of which takes about the time of a tile to come from where it was packed.
ThreadGrid thread_grid(int threads, std::int64_t left_panels, std::int64_t right_panels);

// Share `index` of `count` of [0, size): contiguous, sizes differ by at most one.
struct Range {
  std::int64_t begin, end;
};
Range share(std::int64_t size, int index, int count);

}  // namespace assay::kernels
