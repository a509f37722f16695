// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/reference/reads_through.h"

#include <algorithm>

#include "base/philox.h"

namespace assay::compiler {
namespace {

// A number in row-major order of `shape`, as an index from the last axis to the first.
template <class F>
void for_index(std::int64_t number, const std::vector<std::int64_t>& shape, const F& f) {
  for (std::size_t i = shape.size(); i-- > 0;) {
    // By 32 bits where they suffice: processors divide those several times as fast.
    const bool is_short = ((number | shape[i]) >> 32) == 0;
    const auto rest = is_short ? static_cast<std::int64_t>(static_cast<std::uint32_t>(number) /
                                                           static_cast<std::uint32_t>(shape[i]))
                               : number / shape[i];
    f(i, number - rest * shape[i]);
    number = rest;
  }
}

}  // namespace

bool reads_through(const FixedView& composed, const FixedView& outer, const FixedView& inner) {
  if (composed.shape != outer.shape) return false;
  const auto count = outer.element_count();
  if (count == 0) return true;
  const auto is_same = [&](std::int64_t number) {
    std::int64_t between = outer.offset, at = composed.offset, found = inner.offset;
    for_index(number, outer.shape, [&](std::size_t axis, std::int64_t i) {
      between += i * outer.strides[axis];
      at += i * composed.strides[axis];
    });
    for_index(between, inner.shape,
              [&](std::size_t axis, std::int64_t i) { found += i * inner.strides[axis]; });
    return at == found;
  };
  constexpr std::int64_t kAll = 4096;
  if (count <= kAll) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (!is_same(i)) return false;
    }
    return true;
  }
  std::vector<std::int64_t> ends;  // how far it is along an axis to its last element
  for (std::int64_t i = std::ssize(outer.shape) - 1, step = 1; i >= 0; --i) {
    const auto extent = outer.shape[static_cast<std::size_t>(i)];
    if (extent > 1) ends.push_back((extent - 1) * step);
    step *= extent;
  }
  const auto corners = std::size_t{1} << std::min<std::size_t>(ends.size(), 12);
  for (std::size_t corner = 0; corner < corners; ++corner) {
    std::int64_t number = 0;
    for (std::size_t k = 0; k < ends.size(); ++k) number += (corner >> k & 1) != 0 ? ends[k] : 0;
    if (!is_same(number)) return false;
  }
  const Philox stream(0x7269);
  for (std::uint64_t block = 0; block < kAll / 4; ++block) {
    for (const auto raw : stream.block(block)) {
      const auto at = uniform_below(raw, static_cast<std::uint64_t>(count));
      if (!is_same(static_cast<std::int64_t>(at))) return false;
    }
  }
  return true;
}

}  // namespace assay::compiler
