// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Windows over the last axes: convolutions as products with copies of the windows, and pooling.
#include <array>
#include <cmath>

#include "base/error.h"
#include "models/pt2/aten/forms.h"
#include "models/pt2/operators.h"

namespace assay::models::pt2 {
namespace {

using namespace assay::compiler;  // NOLINT: the front end's words are this file's

using Sizes = std::vector<std::int64_t>;

// One number stands for all axes.
Sizes spread(Sizes sizes, std::size_t axes, std::int64_t low) {
  if (sizes.size() == 1) sizes.assign(axes, sizes[0]);
  if (sizes.size() != axes) fail("{} numbers for {} axes", sizes.size(), axes);
  for (const auto size : sizes) {
    if (size < low || size > (std::int64_t{1} << 30)) fail("a window's number {}", size);
  }
  return sizes;
}

struct Windows {
  Sizes size, stride, padding, dilation;
};

// […, h, w] → […, oh, ow, kh, kw], a view of the padded elements.
GraphTensor windows_of(const GraphTensor& x, const Windows& w, double outside, bool ceils = false) {
  const auto axes = w.size.size();
  if (x.rank() < axes) fail("{} axes of {}", axes, to_string(x.shape()));
  const auto first = x.rank() - axes;
  auto padded = x;
  std::vector<Dim> counts;
  for (std::size_t i = 0; i < axes; ++i) {
    const auto extent = x.shape()[first + i].constant();
    if (!extent) fail("windows over an axis of unknown extent: {}", to_string(x.shape()));
    const auto reach = (w.size[i] - 1) * w.dilation[i] + 1;
    const auto room = *extent + 2 * w.padding[i] - reach;
    if (room < 0) fail("a window of {} over {}", reach, *extent);
    auto count = (room + (ceils ? w.stride[i] - 1 : 0)) / w.stride[i] + 1;
    // The last window begins within the elements or the padding before them.
    if (ceils && (count - 1) * w.stride[i] >= *extent + w.padding[i]) --count;
    const auto after =
        std::max(w.padding[i], (count - 1) * w.stride[i] + reach - *extent - w.padding[i]);
    if (w.padding[i] > 0 || after > 0) {
      padded = pad(padded, signed_axis(first + i), w.padding[i], after, outside);
    }
    counts.emplace_back(count);
  }
  const auto whole = padded.contiguous();
  auto view = whole.view();
  for (std::size_t i = 0; i < axes; ++i) {
    view.shape.emplace_back(w.size[i]);
    view.strides.push_back(view.strides[first + i] * w.dilation[i]);
    view.shape[first + i] = counts[i];
    view.strides[first + i] *= w.stride[i];
  }
  return GraphTensor::of_node(x.graph(), whole.node(), std::move(view));
}

// [n, c, …] with [o, c / groups, …]
GraphTensor convolved(const GraphTensor& input, const GraphTensor& weight,
                      const std::optional<GraphTensor>& bias, Windows w, std::int64_t groups) {
  const auto axes = weight.rank() - 2;
  const bool is_batch = input.rank() == weight.rank();
  if (axes < 1 || (!is_batch && input.rank() != weight.rank() - 1)) {
    fail("a convolution of {} with {}", to_string(input.shape()), to_string(weight.shape()));
  }
  const auto x = widened(is_batch ? input : input.unsqueeze(0));
  w.size.clear();
  for (std::size_t i = 2; i < weight.rank(); ++i) {
    if (!weight.shape()[i].constant()) fail("a weight of unknown size");
    w.size.push_back(*weight.shape()[i].constant());
  }
  const auto windows = windows_of(x, w, 0);  // [n, c, oh, ow, kh, kw]
  const auto channels = x.shape()[1].constant(), outputs = weight.shape()[0].constant();
  if (!channels || !outputs || groups < 1 || *channels % groups != 0 || *outputs % groups != 0) {
    fail("{} groups of {} with {}", groups, to_string(input.shape()), to_string(weight.shape()));
  }
  // [n, groups, places, terms] times [groups, terms, outputs of a group]
  std::vector<Dim> split{windows.shape()[0], groups, *channels / groups};
  split.insert(split.end(), windows.shape().begin() + 2, windows.shape().end());
  std::vector<std::size_t> order{0, 1};
  Dim places = 1, terms = *channels / groups;
  for (std::size_t i = 0; i < axes; ++i) {
    order.push_back(3 + i);
    places *= split[3 + i];
  }
  order.push_back(2);
  for (std::size_t i = 0; i < axes; ++i) {
    order.push_back(3 + axes + i);
    terms *= split[3 + axes + i];
  }
  // A view splits the channels; the copy that follows is what is multiplied.
  const auto rows = windows.split(1, *channels / groups)
                        .permute(order)
                        .reshape({split[0], groups, places, terms});
  const auto columns = widened(weight).reshape({groups, *outputs / groups, terms});
  auto product = matmul(rows, columns.transpose()).transpose();  // [n, groups, outputs, places]
  std::vector<Dim> shape{split[0], *outputs};
  for (std::size_t i = 0; i < axes; ++i) shape.push_back(split[3 + i]);
  product = product.reshape(shape);
  if (bias) {
    auto added = widened(*bias);
    for (std::size_t i = 0; i < axes; ++i) added = added.unsqueeze(-1);
    product = product + added;
  }
  return (is_batch ? product : product.squeeze(0)).cast(input.dtype());
}

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

Windows pooling_windows(const Call& c, std::size_t axes) {
  Windows w;
  w.size = spread(c.integers("kernel_size"), axes, 1);
  w.stride = c.integers("stride");
  w.stride = w.stride.empty() ? w.size : spread(w.stride, axes, 1);
  w.padding = spread(c.integers("padding", {0}), axes, 0);
  w.dilation = spread(c.integers("dilation", {1}), axes, 1);
  return w;
}
std::vector<std::size_t> window_axes(const GraphTensor& windows, std::size_t axes) {
  std::vector<std::size_t> last;
  for (auto i = windows.rank() - axes; i < windows.rank(); ++i) last.push_back(i);
  return last;
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
    return (sums * (1 / count)).cast(c.tensor("self").dtype());
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
    {"aten.max_pool2d_with_indices.default", max_pool<2>, "values alone"},
});

}  // namespace

std::span<const Operator> convolution_operators() { return kConvolution; }

}  // namespace assay::models::pt2
