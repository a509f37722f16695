// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// What tiles a region is cut into, what each of them has of every operand, and what is the same in
// all of them.
#include <algorithm>

#include "compiler/cpu/region_tiles.h"
#include "kernels/tiles/caches.h"

namespace assay::compiler {
namespace {

// Elements of a tile: three slots of them are 24 KiB, and passes leave few. Half as many are begun
// twice as often (region_tiles.cc).
constexpr std::int64_t kTileBytes = 8192;

}  // namespace

// Values that depend on no operand: positions, and what is computed of them and of constants.
void RegionTiles::find_numbers() {
  is_number_.assign(region_.values.size(), false);
  for (std::size_t i = 0; i < region_.values.size(); ++i) {
    const auto& value = region_.values[i];
    const bool is_other = value.op == Op::kConst || value.op == Op::kInput ||
                          value.op == Op::kGather || value.op == Op::kSum ||
                          value.op == Op::kMaxReduce;
    is_number_[i] = !is_other && std::ranges::all_of(value.values, [&](std::uint32_t v) {
      return is_number_[v] || region_.values[v].op == Op::kConst;
    });
  }
}

void RegionTiles::choose_tiles() {
  find_numbers();
  // Numbers turn out to be none where they are not the same in all tiles; their size counts then.
  std::int64_t chosen_for = 0;
  for (largest_ = 4; largest_ != chosen_for;) {
    chosen_for = largest_;
    choose_tile_shape();
    find_boxes();
    for (std::size_t i = 0; i < region_.values.size(); ++i) {
      if (is_number_[i] || !is_used_[i]) continue;
      largest_ = std::max(largest_, static_cast<std::int64_t>(size_of(region_.values[i].dtype)));
    }
  }
}

// Rows along the inner axes as long as all of them fit, then a part of the next axis.
void RegionTiles::choose_tile_shape() {
  const std::int64_t lanes = kTileBytes / largest_;
  tile_columns_ = std::clamp<std::int64_t>(columns_, 1, lanes);
  const bool is_one_row = first_is_given_ || columns_ > lanes / 2 || rows_ == 0;
  const std::int64_t most = is_one_row ? 1 : lanes / tile_columns_;
  tile_axis_ = outer_.size();
  inner_rows_ = tile_rows_ = span_ = 1;
  if (outer_.empty() || rows_ == 0) return;
  while (--tile_axis_ > 0 && inner_rows_ * outer_[tile_axis_] <= most)
    inner_rows_ *= outer_[tile_axis_];
  span_ = inner_rows_ * outer_[tile_axis_];
  tile_rows_ = inner_rows_ * std::clamp<std::int64_t>(outer_[tile_axis_], 1, most / inner_rows_);
}

void RegionTiles::find_boxes() {
  std::int64_t bytes = 0;  // that are read or written, about
  row_steps_.assign(walked_.size() * static_cast<std::size_t>(tile_rows_), 0);
  const auto is_in_tile = [&](std::size_t axis) { return tile_rows_ > 1 && axis >= tile_axis_; };
  for (std::size_t i = 0; i < walked_.size(); ++i) {
    auto& walked = walked_[i];
    if (walked.size == 0) continue;
    walked.box.clear();
    bool rows_repeat = true, all_repeat = true, is_everywhere = true;
    for (std::size_t axis = 0; axis < outer_.size(); ++axis) {
      const auto stride = walked.strides[axis];
      all_repeat &= stride == 0;
      if (is_in_tile(axis)) {
        rows_repeat &= stride == 0;
        walked.box.push_back({outer_[axis], stride});
      }
      // Whether tiles elsewhere have the same of it.
      const bool is_whole = is_in_tile(axis) && (axis > tile_axis_ || tile_rows_ == span_);
      is_everywhere &= stride == 0 || is_whole;
    }
    for (std::int64_t r = 0; r < tile_rows_; ++r) {
      auto& step =
          row_steps_[i * static_cast<std::size_t>(tile_rows_) + static_cast<std::size_t>(r)];
      auto rest = r;
      for (std::size_t axis = outer_.size(); axis-- > tile_axis_; rest /= outer_[axis])
        step += (axis > tile_axis_ ? rest % outer_[axis] : rest) * walked.strides[axis];
    }
    if (!walked.of_row || walked.box.empty())
      walked.box.push_back({walked.of_row ? 1 : columns_, walked.column});
    walked.is_single = walked.column == 0 && rows_repeat && !walked.is_gathered;
    walked.is_in_place = walked.column == 1 && !walked.is_gathered;
    auto step = columns_;
    for (std::size_t axis = outer_.size(); axis-- > 0 && is_in_tile(axis); step *= outer_[axis])
      walked.is_in_place &= outer_[axis] == 1 || walked.strides[axis] == step;
    // But the first, axes along which it goes on evenly are one.
    for (std::size_t axis = walked.box.size(); axis-- > 2;) {
      auto& before = walked.box[axis - 1];
      if (before.stride != walked.box[axis].stride * walked.box[axis].extent) continue;
      before = {before.extent * walked.box[axis].extent, walked.box[axis].stride};
      walked.box.erase(walked.box.begin() + static_cast<std::ptrdiff_t>(axis));
    }
    if (walked.column != 0 && !(all_repeat && rows_ > 1))
      bytes += rows_ * columns_ * static_cast<std::int64_t>(walked.size);
    if (i < is_number_.size() && !(is_everywhere && tile_columns_ == columns_))
      is_number_[i] = false;
  }
  // What is computed of something that is not the same in all tiles is not either.
  for (std::size_t i = 0; i < is_number_.size(); ++i) {
    for (const auto v : region_.values[i].values)
      is_number_[i] = is_number_[i] && (is_number_[v] || region_.values[v].op == Op::kConst);
  }
  // What is far larger than the caches is not in them when somebody reads it, so that it need not
  // go through them; and is asked for ahead of its use. Measured on a Xeon (AVX-512): 2²⁴ floats,
  // one addition: 81 % of the triad's rate without either, 95 to 100 % with one, 110 % with both.
  static const kernels::CacheSizes kCaches = kernels::read_cache_sizes();
  streams_ = bytes > 2 * kCaches.last;
  prefetches_ = bytes > kCaches.l2;
}

}  // namespace assay::compiler
