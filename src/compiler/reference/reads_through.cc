// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/reference/reads_through.h"

#include <algorithm>

#include "base/philox.h"

namespace assay::compiler {
namespace {

std::int64_t place_of(const FixedView& view, const std::vector<std::int64_t>& index) {
  std::int64_t at = view.offset;
  for (std::size_t i = 0; i < index.size(); ++i) at += index[i] * view.strides[i];
  return at;
}
// The index of a number in row-major order.
std::vector<std::int64_t> index_of(std::int64_t number, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0; number /= shape[i]) index[i] = number % shape[i];
  return index;
}

}  // namespace

bool reads_through(const FixedView& composed, const FixedView& outer, const FixedView& inner) {
  if (composed.shape != outer.shape) return false;
  const auto count = outer.element_count();
  if (count == 0) return true;
  const auto is_same = [&](const std::vector<std::int64_t>& index) {
    const auto between = index_of(place_of(outer, index), inner.shape);
    return place_of(composed, index) == place_of(inner, between);
  };
  constexpr std::int64_t kAll = 4096;
  if (count <= kAll) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (!is_same(index_of(i, outer.shape))) return false;
    }
    return true;
  }
  std::vector<std::size_t> axes;  // that have two ends
  for (std::size_t i = 0; i < outer.shape.size(); ++i) {
    if (outer.shape[i] > 1) axes.push_back(i);
  }
  const auto corners = std::size_t{1} << std::min<std::size_t>(axes.size(), 12);
  for (std::size_t corner = 0; corner < corners; ++corner) {
    std::vector<std::int64_t> index(outer.shape.size());
    for (std::size_t k = 0; k < axes.size(); ++k) {
      if (corner >> k & 1) index[axes[k]] = outer.shape[axes[k]] - 1;
    }
    if (!is_same(index)) return false;
  }
  const Philox stream(0x7269);
  for (std::uint64_t i = 0; i < kAll; ++i) {
    const auto at = uniform_below(stream[i], static_cast<std::uint64_t>(count));
    if (!is_same(index_of(static_cast<std::int64_t>(at), outer.shape))) return false;
  }
  return true;
}

}  // namespace assay::compiler
