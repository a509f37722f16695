// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/aten/windows.h"

#include <algorithm>

#include "base/error.h"
#include "models/pt2/aten/forms.h"

namespace assay::models::pt2 {

Sizes spread(Sizes sizes, std::size_t axes, std::int64_t low) {
  if (sizes.size() == 1) sizes.assign(axes, sizes[0]);
  if (sizes.size() != axes) fail("{} numbers for {} axes", sizes.size(), axes);
  for (const auto size : sizes) {
    if (size < low || size > (std::int64_t{1} << 30)) fail("a window's number {}", size);
  }
  return sizes;
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

std::int64_t fixed_extent(const GraphTensor& x, std::size_t axis) {
  const auto extent = x.shape().at(axis).constant();
  if (!extent) fail("windows over an axis of unknown extent: {}", to_string(x.shape()));
  return *extent;
}

GraphTensor windows_of(const GraphTensor& x, const Windows& w, double outside, bool ceils) {
  const auto axes = w.size.size();
  if (x.rank() < axes) fail("{} axes of {}", axes, to_string(x.shape()));
  const auto first = x.rank() - axes;
  auto padded = x;
  std::vector<Dim> counts;
  for (std::size_t i = 0; i < axes; ++i) {
    const auto extent = fixed_extent(x, first + i), reach = w.reach(i);
    const auto room = extent + 2 * w.padding[i] - reach;
    if (room < 0) fail("a window of {} over {}", reach, extent);
    auto count = (room + (ceils ? w.stride[i] - 1 : 0)) / w.stride[i] + 1;
    // The last window begins within the elements or the padding before them.
    if (ceils && (count - 1) * w.stride[i] >= extent + w.padding[i]) --count;
    const auto after =
        std::max(w.padding[i], (count - 1) * w.stride[i] + reach - extent - w.padding[i]);
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

std::vector<std::size_t> window_axes(const GraphTensor& windows, std::size_t axes) {
  std::vector<std::size_t> last;
  for (auto i = windows.rank() - axes; i < windows.rank(); ++i) last.push_back(i);
  return last;
}

GraphTensor window_rows(const GraphTensor& windows, std::int64_t groups, bool joined) {
  const auto axes = (windows.rank() - 2) / 2;
  const auto channels = fixed_extent(windows, 1);
  const auto& shape = windows.shape();
  std::vector<std::size_t> order =
      joined ? std::vector<std::size_t>{1, 0} : std::vector<std::size_t>{0, 1};
  Dim places = 1, terms = channels / groups;
  for (std::size_t i = 0; i < axes; ++i) {
    order.push_back(3 + i);
    places *= shape[2 + i];
  }
  order.push_back(2);
  for (std::size_t i = 0; i < axes; ++i) {
    order.push_back(3 + axes + i);
    terms *= shape[2 + axes + i];
  }
  // A view splits the channels; the copy that follows is what is multiplied.
  const auto rows = windows.split(1, channels / groups).permute(order);
  if (joined) return rows.reshape({groups, shape[0] * places, terms});
  return rows.reshape({shape[0], groups, places, terms});
}

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
  const auto rows = window_rows(windows, groups);
  const auto columns = widened(weight).reshape({groups, *outputs / groups, rows.shape()[3]});
  auto product = matmul(rows, columns.transpose()).transpose();  // [n, groups, outputs, places]
  std::vector<Dim> shape{windows.shape()[0], *outputs};
  for (std::size_t i = 0; i < axes; ++i) shape.push_back(windows.shape()[2 + i]);
  product = product.reshape(shape);
  if (bias) {
    auto added = widened(*bias);
    for (std::size_t i = 0; i < axes; ++i) added = added.unsqueeze(-1);
    product = product + added;
  }
  return (is_batch ? product : product.squeeze(0)).cast(input.dtype());
}

GraphTensor laid_out(const GraphTensor& x, std::size_t axis, std::int64_t first, std::int64_t step,
                     std::int64_t extent) {
  const auto at = signed_axis(axis);
  const auto count = fixed_extent(x, axis);
  // Those within 0 … extent − 1.
  const auto begin = first < 0 ? (-first + step - 1) / step : 0;
  const auto end = std::clamp<std::int64_t>((extent - first + step - 1) / step, begin, count);
  auto shape = x.shape();
  shape[axis] = extent;
  if (begin >= end) return x.like(0).broadcast_to(shape);
  auto y = x.slice(at, begin, end);
  const auto length = (end - begin - 1) * step + 1, before = first + begin * step;
  if (step > 1) {
    auto apart = y.shape();
    apart[axis] = (end - begin) * step;
    y = pad(y.unsqueeze(at + 1), at + 1, 0, step - 1, 0).reshape(apart).slice(at, 0, length);
  }
  if (before == 0 && length == extent) return y;
  return pad(y, at, before, extent - before - length, 0);
}

}  // namespace assay::models::pt2
