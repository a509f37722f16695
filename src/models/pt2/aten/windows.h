// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Windows over the last axes: what convolutions and pooling are made of, there and back.

#include <cstdint>
#include <optional>
#include <vector>

#include "models/pt2/call.h"

namespace assay::models::pt2 {

using Sizes = std::vector<std::int64_t>;
// One number stands for all axes.
Sizes spread(Sizes sizes, std::size_t axes, std::int64_t low);

struct Windows {
  Sizes size, stride, padding, dilation;
  // From the first element of a window to the one behind its last.
  std::int64_t reach(std::size_t axis) const { return (size[axis] - 1) * dilation[axis] + 1; }
};
// Of the arguments kernel_size, stride, padding and dilation.
Windows pooling_windows(const Call& c, std::size_t axes);

// […, h, w] → […, oh, ow, kh, kw], a view of the padded elements.
GraphTensor windows_of(const GraphTensor& x, const Windows& w, double outside, bool ceils = false);
std::vector<std::size_t> window_axes(const GraphTensor& windows, std::size_t axes);

// Windows of [n, c, …] as matrices, one for each n and group: [n, groups, places, terms]; with
// `joined`, for each group over all n: [groups, n · places, terms].
GraphTensor window_rows(const GraphTensor& windows, std::int64_t groups, bool joined = false);

// [n, c, …] with [o, c / groups, …]; w.size is the weight's.
GraphTensor convolved(const GraphTensor& input, const GraphTensor& weight,
                      const std::optional<GraphTensor>& bias, Windows w, std::int64_t groups);

// An axis of `extent` zeros with the elements of this one at `first`, first + step, …; those that
// would be outside are left out. For a window's place within all windows, this is where it was.
GraphTensor laid_out(const GraphTensor& x, std::size_t axis, std::int64_t first, std::int64_t step,
                     std::int64_t extent);

std::int64_t fixed_extent(const GraphTensor& x, std::size_t axis);

}  // namespace assay::models::pt2
