// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/lower/device_nest.h"

#include <cmath>

namespace assay::einsum {
namespace {

constexpr double kSectorBytes = 32;
// Below so many threads a GPU is not full.
constexpr double kEnoughThreads = 1 << 15;

// Bytes that a thread moves for each access when its neighbours are `stride` elements away.
double bytes_beside(std::int64_t stride, std::size_t element_size) {
  const auto size = static_cast<double>(element_size);
  if (stride == 0) return size / kWarpLanes;
  return std::min(kSectorBytes, size * static_cast<double>(std::abs(stride)));
}

double count(std::span<const Loop> loops) {
  double all = 1;
  for (const auto& loop : loops) all *= static_cast<double>(loop.extent);
  return all;
}

double bytes_of_nest(const Loop& fastest, double terms, double elements, std::size_t size) {
  return terms * (bytes_beside(fastest.a, size) + bytes_beside(fastest.b, size)) +
         elements * (fastest.c == 0 ? kSectorBytes : bytes_beside(fastest.c, size));
}

// The run of a tensor's elements that lie together, as the loops walk it.
double contiguous_run(std::span<const Loop> loops, std::int64_t Loop::*stride) {
  std::int64_t run = 1;
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto& loop : loops) {
      if (loop.*stride != run || loop.extent == 1) continue;
      run *= loop.extent;
      grows = true;
      break;
    }
  }
  return static_cast<double>(run);
}

}  // namespace

DeviceNest device_nest(std::vector<Loop> loops, std::size_t element_size) {
  loops = fused_loops(std::move(loops));  // those of the result first
  const auto middle =
      std::ranges::find_if(loops, [](const Loop& l) { return l.c == 0; }) - loops.begin();
  const std::span all(loops);
  const double elements = count(all.first(static_cast<std::size_t>(middle)));
  const double terms = elements * count(all.subspan(static_cast<std::size_t>(middle)));
  // The loop that is best put last among [from, to), by what it moves.
  const auto best = [&](std::ptrdiff_t from, std::ptrdiff_t to, double& bytes) {
    std::ptrdiff_t chosen = -1;
    for (auto i = from; i < to; ++i) {
      const double moved =
          bytes_of_nest(all[static_cast<std::size_t>(i)], terms, elements, element_size);
      if (chosen < 0 || moved < bytes) {
        chosen = i;
        bytes = moved;
      }
    }
    return chosen;
  };
  double by_element = 0, by_sum = 0;
  const auto size = static_cast<std::ptrdiff_t>(loops.size());
  const auto free = best(0, middle, by_element), summed = best(middle, size, by_sum);
  const auto put_last = [&](std::ptrdiff_t which, std::ptrdiff_t end) {
    if (which >= 0)
      std::rotate(loops.begin() + which, loops.begin() + which + 1, loops.begin() + end);
  };
  const double sum_length = terms / elements;
  const bool shares =
      summed >= 0 && sum_length >= kWarpLanes && (free < 0 || by_sum < by_element / 2);
  DeviceNest nest;
  nest.lanes = !shares ? 1
               : elements * kWarpLanes < kEnoughThreads && sum_length >= 4 * kBlockLanes
                   ? kBlockLanes
                   : kWarpLanes;
  put_last(free, middle);
  put_last(summed, size);
  nest.work = {.calls = 1,
               .flop = 2 * terms,
               .bytes = shares     ? by_sum
                        : free < 0 ? kSectorBytes
                                   : by_element};
  nest.loops = std::move(loops);
  return nest;
}

Work device_permute_work(std::span<const Loop> loops, std::size_t element_size) {
  const double elements = count(loops);
  const auto size = static_cast<double>(element_size);
  double bytes = 0;
  for (const auto stride : {&Loop::a, &Loop::c}) {
    const double run = contiguous_run(loops, stride) * size;
    bytes += elements * size * std::max(1.0, kSectorBytes / run);
  }
  return {.calls = 1, .flop = elements, .bytes = bytes};
}

}  // namespace assay::einsum
