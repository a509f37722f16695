// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolutions as products with copies of windows, and pooling.
#include <array>
#include <cmath>

#include "base/error.h"
#include "models/pt2/aten/forms.h"
#include "models/pt2/aten/windows.h"
#include "models/pt2/operators.h"

namespace assay::models::pt2 {
namespace {

using namespace assay::compiler;  // NOLINT: the front end's words are this file's

Result convolution(Call& c) {
  const auto weight = c.tensor("weight");
  if (weight.rank() < 3) fail("a weight of {}", to_string(weight.shape()));
  if (c.flag("transposed", false)) fail("transposed convolutions are not covered");
  const auto axes = weight.rank() - 2;
  Windows w;
  w.stride = spread(c.integers("stride", {1}), axes, 1);
  w.padding = spread(c.integers("padding", {0}), axes, 0);
  w.dilation = spread(c.integers("dilation", {1}), axes, 1);
  return convolved(c.tensor("input"), weight, c.tensor_or_none("bias"), w, c.integer("groups", 1));
}
// padding = 'same' or 'valid'
Result convolution_named_padding(Call& c) {
  const auto weight = c.tensor("weight");
  auto x = c.tensor("input");
  if (weight.rank() < 3 || x.rank() + 1 < weight.rank()) {
    fail("a convolution of {} with {}", to_string(x.shape()), to_string(weight.shape()));
  }
  const auto axes = weight.rank() - 2;
  Windows w;
  w.stride = spread(c.integers("stride", {1}), axes, 1);
  w.dilation = spread(c.integers("dilation", {1}), axes, 1);
  w.padding.assign(axes, 0);
  const auto mode = c.text("padding", "valid");
  if (mode != "same" && mode != "valid") fail("padding '{}'", mode);
  for (std::size_t i = 0; mode == "same" && i < axes; ++i) {
    const auto size = weight.shape()[2 + i].constant();
    if (!size) fail("a weight of unknown size");
    const auto all = (*size - 1) * w.dilation[i];
    if (all > 0) x = pad(x, signed_axis(x.rank() - axes + i), all / 2, all - all / 2, 0);
  }
  return convolved(x, weight, c.tensor_or_none("bias"), w, c.integer("groups", 1));
}

template <std::size_t kAxes>
Result max_pool(Call& c) {
  const auto x = c.tensor("self");
  if (!is_floating(x.dtype())) fail("pooling of {}", name_of(x.dtype()));
  const auto windows =
      windows_of(x, pooling_windows(c, kAxes), -INFINITY, c.flag("ceil_mode", false));
  return max_over(windows, window_axes(windows, kAxes), false);
}
template <std::size_t kAxes>
Result average_pool(Call& c) {
  const auto x = widened(c.tensor("self"));
  const auto w = pooling_windows(c, kAxes);
  if (c.flag("ceil_mode", false) || c.has("divisor_override")) fail("ceil_mode or a divisor");
  const auto windows = windows_of(x, w, 0);
  const auto sums = sum_over(windows, window_axes(windows, kAxes), false);
  if (c.flag("count_include_pad", true)) {
    double count = 1;
    for (const auto size : w.size) count *= static_cast<double>(size);
    return (sums / count).cast(c.tensor("self").dtype());
  }
  const auto ones = windows_of(x.like(1).broadcast_to(x.shape()), w, 0);
  return (sums / sum_over(ones, window_axes(ones, kAxes), false)).cast(c.tensor("self").dtype());
}
// Where the extent is a multiple of what is asked for.
template <std::size_t kAxes>
Result adaptive_average_pool(Call& c) {
  const auto x = widened(c.tensor("self"));
  const auto to = c.integers("output_size");
  Windows w;
  for (std::size_t i = 0; i < kAxes; ++i) {
    const auto extent = x.shape().at(x.rank() - kAxes + i).constant();
    const auto size = spread(to, kAxes, 1)[i];
    if (!extent || *extent % size != 0) {
      fail("{} to {} is not covered: no multiple", to_string(x.shape()), size);
    }
    w.size.push_back(*extent / size);
  }
  w.stride = w.size;
  w.padding.assign(kAxes, 0);
  w.dilation.assign(kAxes, 1);
  const auto windows = windows_of(x, w, 0);
  return mean_over(windows, window_axes(windows, kAxes), false).cast(c.tensor("self").dtype());
}

constexpr std::string_view kCopies = "axes of known extent; windows are copied";
constexpr std::string_view kMultiple = "extents that are multiples";
constexpr auto kConvolution = std::to_array<Operator>({
    {"aten._adaptive_avg_pool2d.default", adaptive_average_pool<2>, kMultiple},
    {"aten.adaptive_avg_pool1d.default", adaptive_average_pool<1>, kMultiple},
    {"aten.adaptive_avg_pool2d.default", adaptive_average_pool<2>, kMultiple},
    {"aten.avg_pool1d.default", average_pool<1>},
    {"aten.avg_pool2d.default", average_pool<2>},
    {"aten.conv1d.default", convolution, kCopies},
    {"aten.conv1d.padding", convolution_named_padding, kCopies},
    {"aten.conv2d.default", convolution, kCopies},
    {"aten.conv2d.padding", convolution_named_padding, kCopies},
    {"aten.convolution.default", convolution, kCopies},
    {"aten.max_pool1d.default", max_pool<1>},
    {"aten.max_pool2d.default", max_pool<2>},
});

}  // namespace

std::span<const Operator> convolution_operators() { return kConvolution; }

}  // namespace assay::models::pt2
