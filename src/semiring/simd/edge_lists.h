// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Neighbour lists without their padding, a block of rows at a time.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/memory/scratch.h"
#include "kernels/threads/crew.h"
#include "semiring/problem.h"
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

// The slots of an ELL problem whose weights are stored as `Stored`.
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

// Room for the edges of one block of rows; one for each worker.
template <typename T>
class EdgeList {
 public:
  EdgeList(std::int64_t rows, std::int64_t slots)
      : sources_(rows * slots + EdgeBlock<T>::kPrefetch), weights_(rows * slots), ends_(rows) {}

  // Nothing if an index is neither −1 nor below `sources`.
  template <typename Stored>
  std::optional<EdgeBlock<T>> list(const Slots<Stored>& s, std::int64_t first, std::int64_t count,
                                   std::int64_t sources) noexcept {
    std::int32_t edges = 0;
    // −1 becomes 0, what is below it becomes large.
    const auto most = static_cast<std::uint32_t>(std::min<std::int64_t>(sources, INT32_MAX));
    bool is_valid = true;
    for (std::int64_t r = 0; r < count; ++r) {
      const std::int32_t* index = s.indices + (first + r) * s.index_row;
      const Stored* weight = s.weights + (first + r) * s.weight_row;
      for (std::int64_t p = 0; p < s.slots; ++p) {  // without branches: degrees are unpredictable
        const std::int32_t source = index[p * s.index_slot];
        sources_[edges] = source;
        weights_[edges] = kernel_weight<Stored, T>(weight[p * s.weight_slot]);
        edges += source >= 0 ? 1 : 0;
        is_valid &= static_cast<std::uint32_t>(source) + 1 <= most;
      }
      ends_[r] = edges;
    }
    const std::int32_t last = edges > 0 ? sources_[edges - 1] : 0;
    std::fill_n(sources_.data() + edges, EdgeBlock<T>::kPrefetch, last);
    if (!is_valid) return {};
    return EdgeBlock<T>{sources_.data(), weights_.data(), ends_.data(), static_cast<int>(count)};
  }

 private:
  kernels::AlignedArray<std::int32_t> sources_;
  kernels::AlignedArray<T> weights_;
  kernels::AlignedArray<std::int32_t> ends_;
};

// Calls f(edges, first row, worker) for every block of rows: whoever is free takes the next one, so
// that rows with many edges keep nobody waiting. f never throws. False if an index is neither −1
// nor below `sources`: the rows of its block are then left as they were.
template <typename T, typename Stored, class F>
bool for_each_block(const Slots<Stored>& s, std::int64_t sources, int workers, const F& f) {
  const std::int64_t step = s.rows_at_once();
  std::vector<EdgeList<T>> lists;
  for (int w = 0; w < workers; ++w) lists.emplace_back(step, s.slots);
  std::atomic<std::int64_t> next = 0;
  std::atomic<bool> is_valid = true;
  kernels::share_work(workers, [&](int worker) noexcept {
    EdgeList<T>& list = lists[static_cast<std::size_t>(worker)];
    for (;;) {
      const std::int64_t first = step * next.fetch_add(1, std::memory_order_relaxed);
      if (first >= s.rows) return;
      const auto edges = list.list(s, first, std::min(step, s.rows - first), sources);
      if (edges) {
        f(*edges, first, worker);
      } else {
        is_valid.store(false, std::memory_order_relaxed);
      }
    }
  });
  return is_valid;
}

}  // namespace assay::semiring::simd
