// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Neighbour lists without their padding, a block of rows at a time, and rows shared out by edges.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "semiring/problem.h"
#include "semiring/simd/aligned.h"
#include "semiring/simd/blocking.h"
#include "semiring/simd/ell_kernels.h"

namespace assay::semiring::simd {

// How a stored weight becomes what the kernels take.
template <typename Stored, typename T>
T kernel_weight(Stored weight) {
  if constexpr (std::is_same_v<Stored, bool>) {
    return weight ? static_cast<T>(0xFF) : T{0};
  } else {
    return weight;
  }
}

// The slots of an ELL problem whose weights are stored as `Stored`; indices are known to be valid.
template <typename Stored>
struct Slots {
  const Stored* weights;
  std::int64_t weight_row, weight_slot;  // strides
  const std::int32_t* indices;
  std::int64_t index_row, index_slot;
  std::int64_t rows, slots;

  Slots(const TensorView& v, const TensorView& idx)
      : weights(v.data<Stored>()),
        weight_row(v.stride(0)),
        weight_slot(v.stride(1)),
        indices(idx.data<std::int32_t>()),
        index_row(idx.stride(0)),
        index_slot(idx.stride(1)),
        rows(idx.extent(0)),
        slots(idx.extent(1)) {}

  // Rows that are listed at once: about a thousand slots, a few kilobytes; a multiple of the rows
  // of every tile (4, 6, 8, 12).
  std::int64_t rows_at_once() const {
    return 24 * std::clamp<std::int64_t>(1024 / 24 / std::max<std::int64_t>(1, slots), 1, 10);
  }
};

// Room for the edges of one block of rows; one for each thread.
template <typename T>
class EdgeList {
 public:
  EdgeList(std::int64_t rows, std::int64_t slots)
      : sources_(rows * slots + EdgeBlock<T>::kPrefetch), weights_(rows * slots), ends_(rows) {}

  template <typename Stored>
  EdgeBlock<T> list(const Slots<Stored>& s, std::int64_t first, std::int64_t count) noexcept {
    std::int32_t edges = 0;
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int32_t* index = s.indices + (first + r) * s.index_row;
      const Stored* weight = s.weights + (first + r) * s.weight_row;
      for (std::int64_t p = 0; p < s.slots; ++p) {  // without branches: degrees are unpredictable
        const std::int32_t source = index[p * s.index_slot];
        sources_[edges] = source;
        weights_[edges] = kernel_weight<Stored, T>(weight[p * s.weight_slot]);
        edges += source >= 0 ? 1 : 0;
      }
      ends_[r] = edges;
    }
    const std::int32_t last = edges > 0 ? sources_[edges - 1] : 0;
    std::fill_n(sources_.data() + edges, EdgeBlock<T>::kPrefetch, last);
    return {sources_.data(), weights_.data(), ends_.data(), static_cast<int>(count)};
  }

 private:
  AlignedArray<std::int32_t> sources_;
  AlignedArray<T> weights_;
  AlignedArray<std::int32_t> ends_;
};

// Begins of `threads` ranges of rows, and the end of the last, with about equal numbers of edges
// (and of rows, where there are no edges).
template <typename Stored>
std::vector<std::int64_t> split_by_edges(const Slots<Stored>& s, int threads) {
  std::vector<std::int64_t> begins(static_cast<std::size_t>(threads) + 1, s.rows);
  begins[0] = 0;
  if (threads == 1) return begins;
  const std::int64_t step = s.rows_at_once();
  std::vector<std::int64_t> cost;  // of the rows before each block
  cost.push_back(0);
  for (std::int64_t first = 0; first < s.rows; first += step) {
    const std::int64_t end = std::min(s.rows, first + step);
    std::int64_t edges = end - first;  // a row without edges still is a row
    for (std::int64_t r = first; r < end; ++r) {
      for (std::int64_t p = 0; p < s.slots; ++p) {
        edges += s.indices[r * s.index_row + p * s.index_slot] >= 0 ? 1 : 0;
      }
    }
    cost.push_back(cost.back() + edges);
  }
  for (int t = 1; t < threads; ++t) {
    const std::int64_t wanted = cost.back() * t / threads;
    const auto at = std::lower_bound(cost.begin(), cost.end(), wanted) - cost.begin();
    begins[static_cast<std::size_t>(t)] = std::min(s.rows, static_cast<std::int64_t>(at) * step);
  }
  return begins;
}

// Calls f(edges, first row, thread) for every block of rows, the rows shared out by edges. f never
// throws.
template <typename T, typename Stored, class F>
void for_each_block(const Slots<Stored>& s, int threads, const F& f) {
  const std::vector<std::int64_t> begins = split_by_edges(s, threads);
  const std::int64_t step = s.rows_at_once();
  std::vector<EdgeList<T>> lists;
  for (int t = 0; t < threads; ++t) lists.emplace_back(step, s.slots);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int t = 0; t < threads; ++t) {
    const auto at = static_cast<std::size_t>(t);
    for (std::int64_t first = begins[at]; first < begins[at + 1]; first += step) {
      const std::int64_t count = std::min(step, begins[at + 1] - first);
      f(lists[at].list(s, first, count), first, t);
    }
  }
}

}  // namespace assay::semiring::simd
