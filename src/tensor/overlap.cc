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

}  // namespace

bool overlap(const TensorView& a, const TensorView& b) {
  if (a.element_count() == 0 || b.element_count() == 0) return false;
  const auto [a_begin, a_end] = reach_of(a);
  const auto [b_begin, b_end] = reach_of(b);
  return a_begin < b_end && b_begin < a_end;
}

std::optional<std::int64_t> overlapping_stride(const TensorView& view) {
  if (view.element_count() == 0) return std::nullopt;
  // Sorted by stride, each must step over all that those before it reach.
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;
  for (std::size_t axis = 0; axis < view.rank(); ++axis) {
    if (view.extent(axis) > 1) axes.emplace_back(std::abs(view.stride(axis)), view.extent(axis));
  }
  std::ranges::sort(axes);
  std::int64_t span = 1;
  for (const auto& [stride, extent] : axes) {
    if (stride < span) return stride;
    span += stride * (extent - 1);
  }
  return std::nullopt;
}

}  // namespace assay
