// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/attention_view.h"

namespace assay::compiler {

AttentionView::Seen AttentionView::seen(const Access& access, const Bindings& symbols) const {
  const auto& formal = kernel_.operands.at(access.operand);
  std::int64_t count = 1;
  for (const auto& dim : formal.shape) count *= dim.at(symbols);
  return {access.operand, formal.dtype, fixed(access.view, symbols, count)};
}

bool AttentionView::bind(const Bindings& symbols) {
  if (bound_ == symbols) return false;
  bound_.reset();
  q = seen(work_.q, symbols);
  k = seen(work_.k, symbols);
  v = seen(work_.v, symbols);
  out = seen(work_.out, symbols);
  mask.reset();
  if (work_.mask) mask = seen(*work_.mask, symbols);
  offset_ = work_.offset.at(symbols);
  window_.reset();
  if (work_.window) window_ = work_.window->at(symbols);
  queries = q.extent(1);
  width = q.extent(0);
  keys = k.extent(1);
  values = v.extent(0);
  const std::size_t rank = q.view.shape.size();
  const bool shares_keys = rank > 2 && k.stride(2) == 0 && v.stride(2) == 0;
  group = shares_keys ? q.extent(2) : 1;
  outer_ = rank - 2 - (shares_keys ? 1 : 0);
  units = 1;
  for (std::size_t axis = 0; axis < outer_; ++axis) units *= q.view.shape[axis];
  bound_ = symbols;
  return true;
}

std::int64_t AttentionView::base(const Seen& x, std::int64_t unit) const {
  std::int64_t at = x.view.offset;
  for (std::size_t axis = outer_; axis-- > 0;) {
    at += unit % q.view.shape[axis] * x.view.strides[axis];
    unit /= q.view.shape[axis];
  }
  return at;
}

std::int64_t AttentionView::row_of(const Seen& x, const Rows& rows, std::int64_t r) const {
  const std::int64_t row = rows.first + r;
  return base(x, rows.unit) + within(x, row / queries, row % queries);
}

kernels::Range AttentionView::visible_to(std::int64_t query) const {
  kernels::Range range{0, keys};
  if (work_.causal) range.end = std::clamp<std::int64_t>(query + offset_ + 1, 0, keys);
  if (window_) range.begin = std::clamp<std::int64_t>(query + offset_ - *window_ + 1, 0, keys);
  return range;
}

kernels::Range AttentionView::visible_to_any(const Rows& rows, std::int64_t begin,
                                             std::int64_t end) const {
  kernels::Range any{end, begin};
  for_rows(rows, 0, rows.count, [&](std::int64_t, std::int64_t, std::int64_t query) {
    const auto range = visible_to(query);
    any.begin = std::min(any.begin, std::max(begin, range.begin));
    any.end = std::max(any.end, std::min(end, range.end));
  });
  return any;
}

}  // namespace assay::compiler
