// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The blocked product that takes rows of one factor as they lie and packs the columns of the other.
//
//   for blocks of columns: all terms of them as panels, shared out
//     for groups of rows (and parts of the columns, where groups are few), taken by whoever is free
//       for blocks of terms (the columns' fill half of L2)
//         for panels of rows (L1), for panels of columns: a tile, added to the group's sums in L2
//       sums handed over, transposed where the product is x Wᵀ, while they are there
//
// Every sum is made in one order, whoever makes it. What a tile is made of, and what multiplies it,
// is the multiplier's:
//
//   Element, Tile             of panels; LinearTile or its like, which has panels, sums and `ahead`
//   rows(), lanes(), vectors()  of a tile: rows × up to vectors · lanes columns
//   terms(), most_terms()     of the product, in elements of panels; of one panel
//   panel_elements()          of a panel of rows
//   ahead_stride()            in bytes between rows that are asked for
//   at(row, term)             where those are
//   pack_rows(row, count, begin, terms, panel), pack_columns(column, count, begin, terms, width,
//   panel)                    true: these panels want care
//   multiply(vectors, tile, with_care), enter(), leave()  (around all tiles of a thread)

#include <algorithm>
#include <atomic>

#include "compiler/cpu/pass_stages.h"
#include "compiler/cpu/product.h"
#include "kernels/memory/scratch.h"
#include "kernels/threads/crew.h"
#include "kernels/tiles/blocking.h"
#include "kernels/tiles/pack_kernels.h"

namespace assay::compiler {

constexpr std::int64_t rounded_to(std::int64_t x, std::int64_t step) {
  return kernels::divide_up(x, step) * step;
}

template <class Multiplier>
class LinearBlocks {
 public:
  // Sums of rows × columns; `is_turned`: sink has a row for each column.
  LinearBlocks(const Multiplier& multiplier, std::int64_t rows, std::int64_t columns,
               bool is_turned, const SumsSink<float>& sink, const ProductOptions& options)
      : multiplier_(multiplier),
        rows_(rows),
        columns_(columns),
        is_turned_(is_turned),
        sink_(sink),
        workers_(std::max(options.threads, 1)),
        pack_(kernels::pack_kernels(float{})) {
    const std::int64_t blocks = kernels::divide_up(multiplier.terms(), multiplier.most_terms());
    terms_ = rounded_to(kernels::divide_up(multiplier.terms(), blocks), 16);
    block_ = std::min(
        rounded_to(columns, multiplier.lanes()),
        std::max<std::int64_t>(options.caches.l2 / 2 / (terms_ * 4) / wide() * wide(), wide()));
    // Sums of a group are an eighth of L2, and there are some groups for everybody.
    const std::int64_t fitting = options.caches.l2 / 8 / (block_ * 4);
    const std::int64_t even = kernels::divide_up(rows, 6 * workers_);
    // Who takes sums works row by row, a block of a pass at a time: for a few columns of many rows
    // that costs more than the product.
    const bool is_narrow = is_turned && sink.taker != nullptr;
    const std::int64_t least = is_narrow ? std::min<std::int64_t>(rows, pass_stages().block) : 1;
    group_ = rounded_to(std::max(least, std::min(even, fitting)), multiplier.rows());
    pitch_ = block_ + 16;
  }

  void run() {
    const std::int64_t blocks = kernels::divide_up(multiplier_.terms(), terms_);
    const std::int64_t panel = rounded_to(multiplier_.panel_elements() + 64, 64);
    const std::int64_t sums = rounded_to(group_ * pitch_, 64);
    const std::int64_t turned = is_turned_ ? rounded_to(block_ * (group_ + 16), 64) : 0;
    const kernels::AlignedArray<Element> x(block_ * rounded_to(multiplier_.terms(), 16));
    const kernels::AlignedArray<Element> panel_memory(panel * workers_);
    const kernels::AlignedArray<float> sums_memory((sums + turned) * workers_);
    const kernels::AlignedArray<std::uint8_t> care(kernels::divide_up(block_, wide()) * blocks);
    x_ = x.data();
    care_ = care.data();
    for (first_ = 0; first_ < columns_; first_ += block_) {
      count_ = std::min(block_, columns_ - first_);
      pack_columns();
      std::atomic<std::int64_t> next = 0;
      kernels::share_work(workers_, [&](int worker) noexcept {
        float* own = sums_memory.data() + (sums + turned) * worker;
        multiplier_.enter();
        for (;;) {
          const std::int64_t item = next.fetch_add(1, std::memory_order_relaxed);
          const std::int64_t group = item / parts() * group_;
          if (group >= rows_) break;
          const auto part =
              kernels::share(panels(), static_cast<int>(item % parts()), static_cast<int>(parts()));
          multiply_group(group, part, panel_memory.data() + panel * worker, own);
          hand_over(own, group, part, own + sums, worker);
        }
        multiplier_.leave();
      });
    }
  }

 private:
  using Element = typename Multiplier::Element;
  using Tile = typename Multiplier::Tile;

  std::int64_t wide() const { return std::int64_t{multiplier_.lanes()} * multiplier_.vectors(); }
  std::int64_t padded() const { return rounded_to(count_, multiplier_.lanes()); }
  std::int64_t panels() const { return kernels::divide_up(count_, wide()); }
  // Of the columns: so many that there are some pieces of work for everybody.
  std::int64_t parts() const {
    const std::int64_t groups = kernels::divide_up(rows_, group_);
    return workers_ == 1 ? 1 : std::min(panels(), kernels::divide_up(3 * workers_, groups));
  }
  std::int64_t terms_from(std::int64_t begin) const {
    return std::min(terms_, multiplier_.terms() - begin);
  }
  // Columns of panel `q`, in whole vectors.
  std::int64_t width_of(std::int64_t q) const { return std::min(wide(), padded() - q * wide()); }
  // The block of terms from `begin` on holds panels of all columns.
  Element* panel_of_columns(std::int64_t begin, std::int64_t q) const {
    return x_ + begin * padded() + q * wide() * terms_from(begin);
  }
  std::uint8_t& care_for(std::int64_t begin, std::int64_t q) const {
    return care_[begin / terms_ * panels() + q];
  }

  void pack_columns() const {
    const std::int64_t blocks = kernels::divide_up(multiplier_.terms(), terms_);
    kernels::share_items(workers_, panels() * blocks, [&](std::int64_t item) noexcept {
      const std::int64_t q = item % panels(), begin = item / panels() * terms_;
      const std::int64_t column = q * wide();
      care_for(begin, q) = multiplier_.pack_columns(
          first_ + column, static_cast<int>(std::min(wide(), count_ - column)), begin,
          terms_from(begin), static_cast<int>(width_of(q)), panel_of_columns(begin, q));
    });
  }

  // Sums of a group of rows and a part of the panels, all of which have their place in `sums`.
  void multiply_group(std::int64_t group, const kernels::Range& part, Element* panel,
                      float* sums) const noexcept {
    const auto width = static_cast<int>(part.end - part.begin);
    const int high = multiplier_.rows();
    const std::int64_t count = std::min(group_, rows_ - group);
    const std::int64_t row_panels = kernels::divide_up(count, high);
    for (std::int64_t begin = 0; begin < multiplier_.terms(); begin += terms_) {
      for (std::int64_t p = 0; p < row_panels; ++p) {
        const std::int64_t row = group + p * high;
        const bool with_care =
            multiplier_.pack_rows(row, static_cast<int>(std::min<std::int64_t>(high, rows_ - row)),
                                  begin, terms_from(begin), panel);
        Tile tile{.panel = panel, .sums_stride = pitch_, .terms = terms_from(begin)};
        tile.accumulate = begin > 0;
        tile.ahead_stride = multiplier_.ahead_stride();
        // The panel that comes next; each tile asks for some of its rows.
        const bool is_last = p + 1 == row_panels;
        const std::int64_t next_begin = is_last ? begin + terms_ : begin;
        const std::int64_t next_row = is_last ? group : row + high;
        const std::int64_t next_rows =
            next_begin < multiplier_.terms() ? std::min<std::int64_t>(high, rows_ - next_row) : 0;
        for (std::int64_t q = part.begin; q < part.end; ++q) {
          const auto ahead = kernels::share(next_rows, static_cast<int>(q - part.begin), width);
          tile.ahead_rows = ahead.end - ahead.begin;
          if (tile.ahead_rows > 0) tile.ahead = multiplier_.at(next_row + ahead.begin, next_begin);
          tile.x = panel_of_columns(begin, q);
          tile.sums = sums + p * high * pitch_ + q * wide();
          multiplier_.multiply(static_cast<int>(width_of(q)) / multiplier_.lanes(), tile,
                               with_care || care_for(begin, q) != 0);
        }
      }
    }
  }

  void hand_over(const float* sums, std::int64_t group, const kernels::Range& part, float* turned,
                 int worker) const noexcept {
    const bool is_taken = sink_.taker != nullptr;
    const std::int64_t count = std::min(group_, rows_ - group);
    const std::int64_t begin = part.begin * wide(),
                       width = std::min(count_, part.end * wide()) - begin;
    const std::int64_t first = first_ + begin;
    sums += begin;
    if (!is_turned_) {
      if (is_taken) return sink_.taker->take({group, count, first, width, sums, pitch_, worker});
      for (std::int64_t i = 0; i < count; ++i)
        std::copy_n(sums + i * pitch_, width, sink_.data + (group + i) * sink_.stride + first);
      return;
    }
    const std::int64_t stride = is_taken ? group_ + 16 : sink_.stride;
    float* to = is_taken ? turned : sink_.data + first * stride + group;
    constexpr std::int64_t kAtOnce = 16;
    for (std::int64_t j = 0; j < count; j += kAtOnce) {
      const float* from[kAtOnce];
      const int some = static_cast<int>(std::min(kAtOnce, count - j));
      for (int i = 0; i < some; ++i) from[i] = sums + (j + i) * pitch_;
      pack_.copy_rows(from, some, width, stride, to + j);
    }
    if (is_taken) sink_.taker->take({first, width, group, count, turned, stride, worker});
  }

  const Multiplier& multiplier_;
  const std::int64_t rows_, columns_;
  const bool is_turned_;
  const SumsSink<float>& sink_;
  const int workers_;
  const kernels::PackKernels<float>& pack_;
  std::int64_t terms_ = 0, block_ = 0, group_ = 0, pitch_ = 0;
  std::int64_t first_ = 0, count_ = 0;  // the columns at work
  Element* x_ = nullptr;                // all their terms, packed
  std::uint8_t* care_ = nullptr;        // that those panels want
};

}  // namespace assay::compiler
