// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Walks one or several strided layouts of the same shape in row-major order, in runs as long as the
// layouts allow: neighbouring axes that every layout steps through evenly are merged first, so a
// contiguous tensor is one run whatever its rank.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/shape.h"

namespace assay {

// Calls visit(offsets, steps, count) for each run: element j of the run lies at
// offsets[v] + j * steps[v] of layout v. Strides and offsets are in elements. A scalar is one run
// of one element; a shape without elements has none.
template <std::size_t kViews, typename F>
void for_each_run(const Shape& shape,
                  const std::array<std::span<const std::int64_t>, kViews>& strides, F&& visit) {
  using Steps = std::array<std::int64_t, kViews>;
  if (shape.element_count() == 0) return;
  std::vector<std::int64_t> extents;
  std::vector<Steps> steps;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1) continue;
    Steps step;
    bool merges = !extents.empty();
    for (std::size_t v = 0; v < kViews; ++v) {
      step[v] = strides[v][axis];
      merges = merges && steps.back()[v] == step[v] * shape[axis];
    }
    if (merges) {
      extents.back() *= shape[axis];
      steps.back() = step;
    } else {
      extents.push_back(shape[axis]);
      steps.push_back(step);
    }
  }
  if (extents.empty()) {
    visit(Steps{}, Steps{}, std::int64_t{1});
    return;
  }
  const std::size_t outer = extents.size() - 1;
  std::vector<std::int64_t> index(outer, 0);
  Steps offsets{};
  for (;;) {
    visit(offsets, steps[outer], extents[outer]);
    std::size_t axis = outer;
    for (; axis > 0; --axis) {  // the next index, as an odometer counts
      const std::size_t a = axis - 1;
      const bool carries = ++index[a] == extents[a];
      for (std::size_t v = 0; v < kViews; ++v) {
        offsets[v] += carries ? steps[a][v] * (1 - extents[a]) : steps[a][v];
      }
      if (!carries) break;
      index[a] = 0;
    }
    if (axis == 0) return;
  }
}

}  // namespace assay
