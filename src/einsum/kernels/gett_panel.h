// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One panel of a packed contraction: some rows of the left operand, or columns of the right one, at
// the terms of a block, gathered from wherever they lie.

#include <array>
#include <cstdint>

#include "einsum/kernels/gett_terms.h"
#include "kernels/tiles/pack_kernels.h"

namespace assay::einsum {

// One operand, seen from the product.
template <typename T>
struct GettSide {
  const T* data;
  const std::vector<Loop>& width;  // its rows or columns
  std::int64_t Loop::*stride;      // which of a loop's strides is this operand's
};

template <typename T>
class GettPanel {
 public:
  static constexpr int kMostWidth = 64;

  // `count` rows or columns from `first` on, kMostWidth at most.
  GettPanel(const GettSide<T>& side, const TermOrder& order, const TermBlock& block,
            std::int64_t first, int count)
      : side_(side), order_(order), block_(block), count_(count) {
    Odometer at(side.width);
    at.seek(first);
    for (int i = 0; i < count; ++i, at.next()) {
      offset_[static_cast<std::size_t>(i)] = side.stride == &Loop::a ? at.a() : at.b();
      is_contiguous_ &= offset_[static_cast<std::size_t>(i)] == offset_[0] + i;
    }
  }

  // panel[l·width + i] = element i of term l, 0 beyond the last element.
  void pack(int width, T* panel) const {
    const auto& kernels = kernels::pack_kernels(T{});
    if (is_contiguous_) {
      for_each_plane(&Run::step, [&](const T* from, const Plane& plane, std::int64_t term) {
        for (std::int64_t i = 0; i < plane.outer.count; ++i) {
          kernels.copy({from + i * plane.outer.stride + offset_[0], 1, plane.run.stride,
                        plane.run.count, count_},
                       width, panel + (term + i * plane.outer.step) * width);
        }
      });
      return;
    }
    if (count_ < width) std::fill_n(panel, block_.terms() * width, T{0});
    for_each_plane(&Run::stride, [&](const T* from, const Plane& plane, std::int64_t term) {
      if (plane.run.stride == 1) {
        std::array<const T*, kMostWidth> rows;
        for (std::int64_t o = 0; o < plane.outer.count; ++o) {
          for (int i = 0; i < count_; ++i) {
            const auto at = static_cast<std::size_t>(i);
            rows[at] = from + o * plane.outer.stride + offset_[at];
            // No prefetcher of the processor follows from one run to the next.
            __builtin_prefetch(rows[at] + plane.outer.stride);
          }
          kernels.copy_rows(rows.data(), count_, plane.run.count, plane.run.step * width,
                            panel + (term + o * plane.outer.step) * width);
        }
        return;
      }
      for_each_element(from, plane, term,
                       [&](T x, int i, std::int64_t l) { panel[l * width + i] = x; });
    });
  }

  // Calls f(element, i, term) for all of them.
  template <typename F>
  void for_each_element(F&& f) const {
    for_each_plane(&Run::stride, [&](const T* from, const Plane& plane, std::int64_t term) {
      for_each_element(from, plane, term, f);
    });
  }

 private:
  // Terms `stride` elements apart in the tensor and `step` apart in the panel.
  struct Run {
    std::int64_t count, stride, step;
  };
  struct Plane {
    Run run, outer;
  };

  template <typename F>
  void for_each_element(const T* from, const Plane& plane, std::int64_t term, F&& f) const {
    for (std::int64_t o = 0; o < plane.outer.count; ++o) {
      for (std::int64_t l = 0; l < plane.run.count; ++l) {
        const T* at = from + o * plane.outer.stride + l * plane.run.stride;
        const std::int64_t to = term + o * plane.outer.step + l * plane.run.step;
        for (int i = 0; i < count_; ++i) f(at[offset_[static_cast<std::size_t>(i)]], i, to);
      }
    }
  }

  // Calls f(first element, plane, first term) for planes that cover the block, their runs along the
  // loop whose `least` is smallest.
  template <typename F>
  void for_each_plane(std::int64_t Run::*least, F&& f) const {
    const auto stride = [this](const Loop& loop) { return loop.*side_.stride; };
    const Loop &p = order_.p(), &q = order_.q();
    const T* const corner = side_.data + block_.p0 * stride(p) + block_.q0 * stride(q);
    const std::int64_t box = block_.q * block_.p;
    // The last of the other labels is a loop like p and q; the rest are walked one by one.
    const Loop last = order_.rest().empty() ? Loop{} : order_.rest().back();
    Odometer rest(order_.rest());
    for (std::int64_t r = 0, count = 0; r < block_.r; r += count) {
      count = std::min(block_.r - r, last.extent - (block_.r0 + r) % last.extent);
      rest.seek(block_.r0 + r);
      const T* const from = corner + (side_.stride == &Loop::a ? rest.a() : rest.b());
      std::array<Run, 3> loops = {
          {{count, stride(last), box}, {block_.p, stride(p), block_.q}, {block_.q, stride(q), 1}}};
      fuse(loops);
      std::ranges::sort(loops, {}, [least](const Run& run) {
        return run.count == 1 ? INT64_MAX : std::abs(run.*least);
      });
      for (std::int64_t i = 0; i < loops[2].count; ++i) {
        f(from + i * loops[2].stride, Plane{loops[0], loops[1]}, r * box + i * loops[2].step);
      }
    }
  }

  // Joins loops that the tensor and the panel both walk as one.
  static void fuse(std::array<Run, 3>& loops) {
    for (auto& outer : loops) {
      for (auto& inner : loops) {
        if (&outer == &inner || outer.count == 1 || inner.count == 1) continue;
        if (outer.stride != inner.count * inner.stride || outer.step != inner.count * inner.step) {
          continue;
        }
        inner.count *= outer.count;
        outer = {1, 0, 0};
      }
    }
  }

  const GettSide<T>& side_;
  const TermOrder& order_;
  const TermBlock& block_;
  int count_;
  bool is_contiguous_ = true;
  std::array<std::int64_t, kMostWidth> offset_;
};

}  // namespace assay::einsum
