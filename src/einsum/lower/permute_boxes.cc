// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/lower/permute_boxes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <vector>

namespace assay::einsum {
namespace {

constexpr std::int64_t kBoxBytes = 32 << 10;
constexpr std::int64_t kMostElements = 4096;  // sixteen for each of 256 threads

std::vector<int> by_stride(std::span<const Loop> loops, std::int64_t Loop::*stride) {
  std::vector<int> order(loops.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(
      order, {}, [&](int l) { return std::abs(loops[static_cast<std::size_t>(l)].*stride); });
  return order;
}

// About `wanted` of an extent: a divisor of it if there is one, else parts of about equal size,
// since a last one of a few elements would keep a block from work.
std::int64_t part_of(std::int64_t extent, std::int64_t wanted) {
  if (extent <= wanted) return extent;
  for (std::int64_t part = wanted; part <= 2 * wanted && part <= extent; ++part) {
    if (extent % part == 0) return part;
  }
  const std::int64_t parts = std::max<std::int64_t>(1, (extent + wanted / 2) / wanted);
  return (extent + parts - 1) / parts;
}

// Grows the box along `order` until it has runs of about `target` elements.
void grow(std::span<const Loop> loops, const std::vector<int>& order, std::int64_t target,
          std::vector<std::int64_t>& box) {
  std::int64_t run = 1;
  for (const int l : order) {
    if (run >= target) return;
    const auto at = static_cast<std::size_t>(l);
    const std::int64_t extent = loops[at].extent, wanted = (target + run - 1) / run;
    box[at] = std::max(box[at], part_of(extent, wanted));
    run *= box[at];
    if (box[at] < extent) return;
  }
}

std::int64_t product(const std::vector<std::int64_t>& box) {
  return std::accumulate(box.begin(), box.end(), std::int64_t{1}, std::multiplies<>());
}

// The longest runs on both sides that fit.
std::vector<std::int64_t> box_of(std::span<const Loop> loops, const std::vector<int>& order_a,
                                 const std::vector<int>& order_c, std::int64_t most) {
  std::vector<std::int64_t> best(loops.size(), 1);
  for (const std::int64_t target : {4, 8, 16, 24, 32, 48, 64, 96, 128, 512, 2048, 4096}) {
    std::vector<std::int64_t> box(loops.size(), 1);
    grow(loops, order_a, target, box);
    grow(loops, order_c, target, box);
    if (product(box) > most) break;
    best = box;
  }
  // What is left of the room makes the runs of the copy longer.
  for (std::int64_t target = 8; target <= most; target *= 2) {
    auto box = best;
    grow(loops, order_c, target, box);
    if (product(box) > most) break;
    best = box;
  }
  return best;
}

}  // namespace

std::optional<PermuteBoxes> permute_boxes(std::span<const Loop> loops, std::size_t element_size) {
  constexpr std::int64_t kInt = std::numeric_limits<std::int32_t>::max();
  if (loops.size() > PermuteBoxes::kMaxLoops) return std::nullopt;
  const auto order_a = by_stride(loops, &Loop::a), order_c = by_stride(loops, &Loop::c);
  const auto most = std::min(kMostElements, kBoxBytes / static_cast<std::int64_t>(element_size));
  const auto box = box_of(loops, order_a, order_c, most);
  PermuteBoxes p;
  p.loops = static_cast<int>(loops.size());
  std::int64_t boxes = 1, reach_a = 0, reach_c = 0;
  for (std::size_t l = 0; l < loops.size(); ++l) {
    const std::int64_t extent = loops[l].extent, parts = (extent + box[l] - 1) / box[l];
    if (extent > kInt) return std::nullopt;
    p.extent[l] = static_cast<std::int32_t>(extent);
    p.box[l] = static_cast<std::int32_t>(box[l]);
    p.parts[l] = static_cast<std::int32_t>(parts);
    p.a[l] = loops[l].a;
    p.c[l] = loops[l].c;
    boxes *= parts;
    reach_a += (box[l] - 1) * std::abs(loops[l].a);
    reach_c += (box[l] - 1) * std::abs(loops[l].c);
    if (boxes > kInt) return std::nullopt;
  }
  if (reach_a > kInt || reach_c > kInt) return std::nullopt;
  p.boxes = static_cast<std::int32_t>(boxes);
  for (const int l : order_a) {
    if (p.box[l] == 1) continue;
    p.stride_a[l] = p.elements;
    p.elements *= p.box[l];
    p.order_a[p.in_box++] = l;
  }
  int at = 0;
  std::int32_t stride_c = 1;
  for (const int l : order_c) {
    if (p.box[l] == 1) continue;
    p.order_c[at++] = l;
    if (p.extent[l] % p.box[l] != 0) {
      if (p.cuts == 2) return std::nullopt;  // boxes are grown along two orders
      p.cut[p.cuts] = l;
      p.cut_in_a[p.cuts] = p.stride_a[l];
      p.cut_in_c[p.cuts++] = stride_c;
    }
    stride_c *= p.box[l];
  }
  // Neighbours of the copy lie stride_a apart in the block's memory: an odd distance has no two of
  // them in one bank.
  if (p.in_box > 0) {
    const int apart = p.stride_a[p.order_c[0]];
    if (apart > 1) p.pad_shift = std::bit_width(static_cast<unsigned>(apart)) - 1;
  }
  return p;
}

}  // namespace assay::einsum
