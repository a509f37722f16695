// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What attention reads and writes, once symbols have values: units of heads that share keys, rows
// of queries in them, and which keys a query sees.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "compiler/cpu/tile_moves.h"
#include "compiler/program/program.h"
#include "kernels/tiles/blocking.h"

namespace assay::compiler {

class AttentionView {
 public:
  // The kernel outlives it.
  explicit AttentionView(const Kernel& kernel)
      : kernel_(kernel), work_(std::get<Attention>(kernel.work)) {}

  // Everything below is what it is for these. Returns whether anything changed.
  bool bind(const Bindings& symbols);

  struct Seen {
    std::uint32_t operand = 0;
    DType dtype = DType::kF32;
    FixedView view;
    std::int64_t stride(std::size_t from_the_end) const {
      return view.strides[view.strides.size() - 1 - from_the_end];
    }
    std::int64_t extent(std::size_t from_the_end) const {
      return view.shape[view.shape.size() - 1 - from_the_end];
    }
    std::byte* at(std::span<std::byte* const> operands, std::int64_t element) const {
      return operands[operand] + element * static_cast<std::int64_t>(size_of(dtype));
    }
  };
  Seen q, k, v, out;
  std::optional<Seen> mask;
  std::int64_t queries = 0, width = 0, keys = 0, values = 0;
  // Query heads that share keys are one unit of group · queries rows.
  std::int64_t group = 1, units = 0;

  double scale() const { return work_.scale; }
  // Rows of one unit from `first` on; row r is query r % queries of head r / queries of the group.
  struct Rows {
    std::int64_t unit, first, count;
  };
  // Where a unit's elements begin, and those of one of its rows.
  std::int64_t base(const Seen& x, std::int64_t unit) const;
  std::int64_t row_of(const Seen& x, const Rows& rows, std::int64_t r) const;
  // The keys that row r may see.
  kernels::Range visible(const Rows& rows, std::int64_t r) const {
    return visible_to((rows.first + r) % queries);
  }
  kernels::Range visible_to(std::int64_t query) const;
  // f(r, head, query) for rows [first, first + count) of a block: no division for each, which would
  // take longer than what is done with a row.
  template <typename F>
  void for_rows(const Rows& rows, std::int64_t first, std::int64_t count, const F& f) const {
    std::int64_t head = (rows.first + first) / queries, query = (rows.first + first) % queries;
    for (std::int64_t r = first; r < first + count; ++r) {
      f(r, head, query);
      if (++query == queries) query = 0, ++head;
    }
  }
  // Where such a row begins behind its unit's base().
  std::int64_t within(const Seen& x, std::int64_t head, std::int64_t query) const {
    return (group > 1 ? head * x.stride(2) : 0) + query * x.stride(1);
  }
  // Those that any row may see, of [begin, end); begin = end or more for none.
  kernels::Range visible_to_any(const Rows& rows, std::int64_t begin, std::int64_t end) const;
  // What the mask says of row r and keys [j, j + count): calls hide(i) for those that it hides, or
  // add(i, what is added to the score).
  template <typename Hide, typename Add>
  void apply_mask(std::span<std::byte* const> operands, const Rows& rows, std::int64_t r,
                  std::int64_t j, std::int64_t count, const Hide& hide, const Add& add) const {
    if (!mask) return;
    const std::byte* from = mask->at(operands, row_of(*mask, rows, r) + j * mask->stride(0));
    if (mask->dtype == DType::kBool) {
      const auto* is_seen = reinterpret_cast<const bool*>(from);
      for (std::int64_t i = 0; i < count; ++i)
        if (!is_seen[i * mask->stride(0)]) hide(i);
      return;
    }
    constexpr std::int64_t kPiece = 64;
    double added[kPiece];
    const auto step = mask->stride(0) * static_cast<std::int64_t>(size_of(mask->dtype));
    for (std::int64_t i = 0; i < count; i += kPiece) {
      const std::int64_t some = std::min(kPiece, count - i);
      widen_elements(mask->dtype, from + i * step, mask->stride(0), some, added);
      for (std::int64_t e = 0; e < some; ++e) add(i + e, added[e]);
    }
  }

 private:
  Seen seen(const Access& access, const Bindings& symbols) const;

  const Kernel& kernel_;
  const Attention& work_;
  std::int64_t offset_ = 0;
  std::optional<std::int64_t> window_;
  std::size_t outer_ = 0;  // leading axes of a unit
  std::optional<Bindings> bound_;
};

}  // namespace assay::compiler
