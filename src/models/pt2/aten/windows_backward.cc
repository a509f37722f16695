// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The ways back of convolutions and pooling. What an element took part in is said window by window:
// for each place within a window, that place of all windows is laid out where it was, and all are
// added. No scatter is needed.
#include <array>

#include "base/error.h"
#include "models/pt2/aten/forms.h"
#include "models/pt2/aten/windows.h"
#include "models/pt2/operators.h"

namespace assay::models::pt2 {
namespace {

using namespace assay::compiler;  // NOLINT: the front end's words are this file's

constexpr std::int64_t kMostPlaces = 256;  // of a window: each is a piece of the graph

// dL/dx of y = x * W: dL/dy with zeros between, as far apart as strides are, times W turned around.
GraphTensor change_of_input(const GraphTensor& change, const GraphTensor& input,
                            const GraphTensor& weight, const Windows& w, std::int64_t groups) {
  const auto outputs = fixed_extent(weight, 0) / groups, channels = fixed_extent(weight, 1);
  auto apart = change;
  Windows turned{w.size, {}, {}, w.dilation};
  std::vector<Dim> split{groups, outputs, channels}, whole{groups * channels, outputs};
  std::vector<std::size_t> order{0, 2, 1};
  for (std::size_t i = 0; i < w.size.size(); ++i) {
    const auto extent = fixed_extent(input, 2 + i), reach = w.reach(i);
    apart = laid_out(apart, 2 + i, reach - 1 - w.padding[i], w.stride[i], extent + reach - 1);
    split.emplace_back(w.size[i]);
    whole.emplace_back(w.size[i]);
    order.push_back(3 + i);
  }
  turned.stride.assign(w.size.size(), 1);
  turned.padding.assign(w.size.size(), 0);
  auto weights = weight.reshape(split).permute(order).reshape(whole);
  for (std::size_t i = 0; i < w.size.size(); ++i) weights = weights.reverse(signed_axis(2 + i));
  return convolved(apart, weights, {}, turned, groups);
}

// dL/dW: products of dL/dy and the windows, over all places.
GraphTensor change_of_weight(const GraphTensor& change, const GraphTensor& input,
                             const GraphTensor& weight, const Windows& w, std::int64_t groups) {
  const auto rows = window_rows(windows_of(widened(input), w, 0), groups, true);
  const auto outputs = fixed_extent(weight, 0);
  const auto places = rows.shape()[1];
  const auto by_output = widened(change)
                             .reshape({change.shape()[0], groups, outputs / groups,
                                       floor_div(places, change.shape()[0])})
                             .permute({1, 2, 0, 3})
                             .reshape({groups, outputs / groups, places});
  return matmul(by_output, rows).reshape(weight.shape()).cast(weight.dtype());
}

Result convolution_backward(Call& c) {
  const auto change = c.tensor("grad_output"), input = c.tensor("input"),
             weight = c.tensor("weight");
  if (c.flag("transposed", false)) fail("transposed convolutions are not covered");
  if (weight.rank() < 3 || input.rank() != weight.rank() || change.rank() != weight.rank()) {
    fail("a convolution of {} with {}", to_string(input.shape()), to_string(weight.shape()));
  }
  const auto axes = weight.rank() - 2;
  const auto groups = c.integer("groups", 1);
  if (groups < 1 || fixed_extent(weight, 0) % groups != 0) fail("{} groups", groups);
  Windows w;
  for (std::size_t i = 0; i < axes; ++i) w.size.push_back(fixed_extent(weight, 2 + i));
  w.stride = spread(c.integers("stride", {1}), axes, 1);
  w.padding = spread(c.integers("padding", {0}), axes, 0);
  w.dilation = spread(c.integers("dilation", {1}), axes, 1);
  std::vector<GraphTensor> results;
  const auto wanted = c.flags("output_mask");
  if (wanted.size() != 3) fail("{} results of three", wanted.size());
  if (wanted[0]) results.push_back(change_of_input(change, input, weight, w, groups));
  if (wanted[1]) results.push_back(change_of_weight(change, input, weight, w, groups));
  if (wanted[2]) {
    std::vector<std::size_t> others{0};
    for (std::size_t i = 0; i < axes; ++i) others.push_back(2 + i);
    results.push_back(sum_over(widened(change), others, false).cast(change.dtype()));
  }
  return results;
}

// Σ over the places of a window, of what of(place) says of all windows: […, oh, ow] each.
template <typename Of>
GraphTensor added_up(const GraphTensor& x, const Windows& w, const Of& of) {
  if (w.size.size() != 2 || w.size[0] * w.size[1] > kMostPlaces) {
    fail("a window of more than {} elements on the way back", kMostPlaces);
  }
  const auto rows = x.rank() - 2, columns = x.rank() - 1;
  std::optional<GraphTensor> sum;
  for (std::int64_t i = 0; i < w.size[0]; ++i) {
    for (std::int64_t j = 0; j < w.size[1]; ++j) {
      const auto in_rows = laid_out(of(i, j), rows, i * w.dilation[0] - w.padding[0], w.stride[0],
                                    fixed_extent(x, rows));
      const auto laid = laid_out(in_rows, columns, j * w.dilation[1] - w.padding[1], w.stride[1],
                                 fixed_extent(x, columns));
      sum = sum ? *sum + laid : laid;
    }
  }
  return *sum;
}

// 0, 1, … in the order of a plane's elements.
GraphTensor places_of(const GraphTensor& x) {
  const auto height = fixed_extent(x, x.rank() - 2), width = fixed_extent(x, x.rank() - 1);
  return GraphTensor::iota(x.graph(), height * width).reshape({height, width});
}
double beyond(const GraphTensor& x) {
  return static_cast<double>(fixed_extent(x, x.rank() - 2) * fixed_extent(x, x.rank() - 1));
}

// The greatest of each window, and the first place in its plane that it is at.
Result max_pool_with_places(Call& c) {
  const auto x = c.tensor("self");
  if (!is_floating(x.dtype()) || x.rank() < 3) {
    fail("pooling of {} {}", name_of(x.dtype()), to_string(x.shape()));
  }
  const auto w = pooling_windows(c, 2);
  const bool ceils = c.flag("ceil_mode", false);
  const auto windows = windows_of(x, w, -INFINITY, ceils);
  const auto axes = window_axes(windows, 2);
  const auto greatest = max_over(windows, axes, true);
  const auto is_it = max(equal(windows, greatest), is_nan(windows));
  const auto places = windows_of(places_of(x), w, beyond(x), ceils);
  const auto first = min_over(select(is_it, places, places.like(beyond(x))), axes, false);
  return std::vector{max_over(windows, axes, false), first};
}

Result max_pool_backward(Call& c) {
  const auto change = c.tensor("grad_output"), x = c.tensor("self"), chosen = c.tensor("indices");
  const auto w = pooling_windows(c, 2);
  const auto places = windows_of(places_of(x), w, beyond(x), c.flag("ceil_mode", false));
  const auto wide = widened(change);
  return added_up(x, w,
                  [&](std::int64_t i, std::int64_t j) {
                    const auto here = selected(selected(places, 3, j), 2, i);
                    return select(equal(chosen, here), wide, wide.like(0));
                  })
      .cast(x.dtype());
}

Result average_pool_backward(Call& c) {
  const auto change = widened(c.tensor("grad_output")), x = c.tensor("self");
  const auto w = pooling_windows(c, 2);
  if (c.flag("ceil_mode", false) || c.has("divisor_override")) fail("ceil_mode or a divisor");
  auto share = change / static_cast<double>(w.size[0] * w.size[1]);
  if (!c.flag("count_include_pad", true)) {
    const auto ones = windows_of(change.like(1).broadcast_to(x.shape()), w, 0);
    share = change / sum_over(ones, window_axes(ones, 2), false);
  }
  return added_up(x, w, [&](std::int64_t, std::int64_t) { return share; }).cast(x.dtype());
}

// Where the extent is a multiple: each element is in one window.
Result adaptive_average_pool_backward(Call& c) {
  auto change = widened(c.tensor("grad_output"));
  const auto x = c.tensor("self");
  const auto last = x.rank();
  double count = 1;
  for (const auto axis : {last - 2, last - 1}) {
    const auto extent = fixed_extent(x, axis), windows = fixed_extent(change, axis);
    if (windows < 1 || extent % windows != 0) {
      fail("{} to {} is not covered: no multiple", to_string(x.shape()), windows);
    }
    const auto each = extent / windows;
    count *= static_cast<double>(each);
    auto shape = change.shape();
    shape[axis] = extent;
    const auto at = signed_axis(axis + 1);
    change = change.unsqueeze(at).expand(at, each).reshape(shape);
  }
  return (change / count).cast(x.dtype());
}

constexpr std::string_view kKnown = "axes of known extent; windows are copied";
constexpr auto kBackward = std::to_array<Operator>({
    {"aten._adaptive_avg_pool2d_backward.default", adaptive_average_pool_backward,
     "extents that are multiples"},
    {"aten.avg_pool2d_backward.default", average_pool_backward},
    {"aten.convolution_backward.default", convolution_backward, kKnown},
    {"aten.max_pool2d_with_indices.default", max_pool_with_places},
    {"aten.max_pool2d_with_indices_backward.default", max_pool_backward},
});

}  // namespace

std::span<const Operator> window_operators() { return kBackward; }

}  // namespace assay::models::pt2
