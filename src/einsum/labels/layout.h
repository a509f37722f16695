// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How the labels of a tensor lie in memory.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "einsum/labels/label_set.h"
#include "einsum/labels/loop.h"

namespace assay::einsum {

// One label of a tensor: neighbours along it lie `stride` elements apart.
struct Mode {
  Label label = 0;
  std::int64_t extent = 1;
  std::int64_t stride = 0;
  bool operator==(const Mode&) const = default;
};

// The modes of a tensor, each label once, every extent above 1. The order says nothing.
using Layout = std::vector<Mode>;

inline const Mode* find_mode(const Layout& layout, Label label) {
  const auto at = std::ranges::find(layout, label, &Mode::label);
  return at == layout.end() ? nullptr : &*at;
}

inline LabelSet labels_of(const Layout& layout) {
  LabelSet set;
  for (const auto& mode : layout) set.insert(mode.label);
  return set;
}

inline double element_count(const Layout& layout) {
  double count = 1;
  for (const auto& mode : layout) count *= static_cast<double>(mode.extent);
  return count;
}

// The labels in this order, the last one contiguous, no gaps. `extents` by label.
inline Layout dense_layout(std::span<const Label> order, std::span<const std::int64_t> extents) {
  Layout layout(order.size());
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::int64_t extent = extents[static_cast<std::size_t>(order[i])];
    layout[i] = {order[i], extent, stride};
    stride *= extent;
  }
  return layout;
}

// The labels by descending stride: the order in which a dense layout would have them.
inline std::vector<Label> memory_order(Layout layout) {
  std::ranges::stable_sort(layout, std::greater{},
                           [](const Mode& m) { return std::abs(m.stride); });
  std::vector<Label> order;
  for (const auto& mode : layout) order.push_back(mode.label);
  return order;
}

// Walks all combinations of loop indices, the last loop fastest.
class Odometer {
 public:
  explicit Odometer(std::span<const Loop> loops) : loops_(loops) {
    std::fill_n(index_.begin(), loops.size(), 0);
  }

  // Starts at combination number `n`.
  void seek(std::int64_t n) {
    a_ = b_ = c_ = 0;
    summing_ = 0;
    for (std::size_t i = loops_.size(); i-- > 0;) {
      index_[i] = n % loops_[i].extent;
      n /= loops_[i].extent;
      if (loops_[i].c == 0 && index_[i] != 0) ++summing_;
      a_ += index_[i] * loops_[i].a;
      b_ += index_[i] * loops_[i].b;
      c_ += index_[i] * loops_[i].c;
    }
  }
  void next() {
    for (std::size_t i = loops_.size(); i-- > 0;) {
      const Loop& loop = loops_[i];
      a_ += loop.a;
      b_ += loop.b;
      c_ += loop.c;
      if (++index_[i] < loop.extent) {
        if (loop.c == 0 && index_[i] == 1) ++summing_;
        return;
      }
      index_[i] = 0;
      if (loop.c == 0 && loop.extent > 1) --summing_;
      a_ -= loop.extent * loop.a;
      b_ -= loop.extent * loop.b;
      c_ -= loop.extent * loop.c;
    }
  }
  std::int64_t a() const { return a_; }
  std::int64_t b() const { return b_; }
  std::int64_t c() const { return c_; }
  // Whether all loops that c does not have are at their first index.
  bool sums_begin() const { return summing_ == 0; }

 private:
  std::span<const Loop> loops_;
  std::array<std::int64_t, kMaxLabels> index_;  // as many as there are loops; no allocation
  std::int64_t a_ = 0, b_ = 0, c_ = 0;
  int summing_ = 0;  // summed loops that are not at their first index
};

inline std::int64_t iterations(std::span<const Loop> loops) {
  std::int64_t count = 1;
  for (const auto& loop : loops) count *= loop.extent;
  return count;
}

// Joins loops that all three tensors walk as one, and orders them: loops of c outside, by falling
// stride; then the summed ones (c = 0).
std::vector<Loop> fused_loops(std::vector<Loop> loops);

// The loops over all labels of a, b and c.
std::vector<Loop> loops_over(const Layout& a, const Layout& b, const Layout& c);

}  // namespace assay::einsum
