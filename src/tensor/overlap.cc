// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/overlap.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace assay {
namespace {

// First and one past the last byte of a view that has elements.
std::pair<std::uintptr_t, std::uintptr_t> reach_of(const TensorView& view) {
  auto begin = reinterpret_cast<std::uintptr_t>(view.raw_data()), end = begin;
  const auto size = static_cast<std::int64_t>(size_of(view.dtype()));
  for (std::size_t axis = 0; axis < view.rank(); ++axis) {
    const auto far = (view.extent(axis) - 1) * view.stride(axis) * size;
    (far < 0 ? begin : end) += static_cast<std::uintptr_t>(far);
  }
  return {begin, end + static_cast<std::uintptr_t>(size)};
}

// Sizes of strides, and extents, of axes along which there is more than one element.
std::vector<std::pair<std::int64_t, std::int64_t>> axes_by_stride(const TensorView& view) {
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;
  for (std::size_t axis = 0; axis < view.rank(); ++axis) {
    if (view.extent(axis) > 1) axes.emplace_back(std::abs(view.stride(axis)), view.extent(axis));
  }
  std::ranges::sort(axes);
  return axes;
}

// Whether the elements fill all of the bytes that they reach.
bool is_solid(const TensorView& view) {
  std::int64_t span = 1;
  for (const auto& [stride, extent] : axes_by_stride(view)) {
    if (stride > span) return false;
    span += stride * (extent - 1);
  }
  return true;
}

// The halves of a view that is not solid, along the axis that reaches farthest.
std::pair<TensorView, TensorView> halves_of(const TensorView& view) {
  std::size_t widest = 0;
  std::int64_t farthest = 0;
  for (std::size_t axis = 0; axis < view.rank(); ++axis) {
    const auto far = (view.extent(axis) - 1) * std::abs(view.stride(axis));
    if (far > farthest) widest = axis, farthest = far;
  }
  const auto extent = view.extent(widest);
  return {view.slice(widest, 0, extent / 2), view.slice(widest, extent / 2, extent)};
}

}  // namespace

bool overlap(const TensorView& a, const TensorView& b) {
  if (a.element_count() == 0 || b.element_count() == 0) return false;
  const auto [a_begin, a_end] = reach_of(a);
  const auto [b_begin, b_end] = reach_of(b);
  return a_begin < b_end && b_begin < a_end;
}

bool share_memory(const TensorView& a, const TensorView& b) {
  if (!overlap(a, b)) return false;
  const bool a_is_solid = is_solid(a), b_is_solid = is_solid(b);
  if (a_is_solid && b_is_solid) return true;
  const auto [a_begin, a_end] = reach_of(a);
  const auto [b_begin, b_end] = reach_of(b);
  const bool splits_a = b_is_solid || (!a_is_solid && a_end - a_begin >= b_end - b_begin);
  const auto [low, high] = halves_of(splits_a ? a : b);
  const auto& other = splits_a ? b : a;
  return share_memory(low, other) || share_memory(high, other);
}

std::optional<std::int64_t> overlapping_stride(const TensorView& view) {
  if (view.element_count() == 0) return std::nullopt;
  // Sorted by stride, each must step over all that those before it reach.
  std::int64_t span = 1;
  for (const auto& [stride, extent] : axes_by_stride(view)) {
    if (stride < span) return stride;
    span += stride * (extent - 1);
  }
  return std::nullopt;
}

}  // namespace assay
