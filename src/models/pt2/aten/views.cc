// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Other looks at the same elements: what is written through them, others see.
#include <array>
#include <limits>

#include "base/error.h"
#include "models/pt2/aten/forms.h"
#include "models/pt2/operators.h"

namespace assay::models::pt2 {
namespace {

using namespace assay::compiler;  // NOLINT: the front end's words are this file's

GraphTensor self_of(const Call& c) { return c.tensor("self"); }

// −1 is what is left.
std::vector<Dim> completed(const Call& c, std::vector<Dim> shape, const Dim& total) {
  std::optional<std::size_t> open;
  Dim others = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].is(-1)) {
      if (open) fail("two extents are left open: {}", to_string(shape));
      open = i;
    } else {
      others *= shape[i];
    }
  }
  if (!open) return shape;
  if (others.is(0)) fail("an extent is left open beside an empty one: {}", to_string(shape));
  shape[*open] = floor_div(total, others);
  // The archive knows it where the division is not seen to have no rest.
  if (!(shape[*open] * others == total) && c.declared_shape() &&
      c.declared_shape()->size() == shape.size()) {
    shape[*open] = (*c.declared_shape())[*open];
  }
  return shape;
}
Result reshape_to(Call& c, std::string_view name) {
  const auto x = self_of(c);
  return x.reshape(completed(c, c.dims(name), product(x.shape())));
}
Result view(Call& c) {
  if (c.has("dtype")) fail("elements as another dtype are not covered");
  return reshape_to(c, "size");
}
Result reshape(Call& c) { return reshape_to(c, "shape"); }
Result like_other(Call& c) { return self_of(c).reshape(c.tensor("other").shape()); }
Result flatten(Call& c) {
  const auto x = self_of(c);
  if (x.rank() == 0) return x.reshape({1});
  const auto first = axis_in(c.integer("start_dim", 0), x.rank()),
             last = axis_in(c.integer("end_dim", -1), x.rank());
  std::vector<Dim> shape;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (i > first && i <= last) {
      shape.back() *= x.shape()[i];
    } else {
      shape.push_back(x.shape()[i]);
    }
  }
  return x.reshape(shape);
}
Result unflatten(Call& c) {
  const auto x = self_of(c);
  const auto axis = axis_in(c.integer("dim"), x.rank());
  auto shape = x.shape();
  Dim known = 1;
  auto sizes = c.dims("sizes");
  for (const auto& size : sizes) known *= size.is(-1) ? Dim(1) : size;
  for (auto& size : sizes) size = size.is(-1) ? floor_div(shape[axis], known) : size;
  const auto at = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  shape.insert(shape.erase(at), sizes.begin(), sizes.end());
  return x.reshape(shape);
}

Result permute(Call& c) {
  const auto x = self_of(c);
  std::vector<std::size_t> order;
  for (const auto axis : c.integers("dims")) order.push_back(axis_in(axis, x.rank()));
  return x.permute(order);
}
Result transpose(Call& c) {
  const auto x = self_of(c);
  if (x.rank() == 0) return x;
  return x.transpose(signed_axis(axis_in(c.integer(c.has("dim0") ? "dim0" : "axis0"), x.rank())),
                     signed_axis(axis_in(c.integer(c.has("dim1") ? "dim1" : "axis1"), x.rank())));
}
Result turned(Call& c) {
  const auto x = self_of(c);
  return x.rank() < 2 ? x : x.transpose();
}
Result reversed_axes(Call& c) {
  const auto x = self_of(c);
  std::vector<std::size_t> order;
  for (std::size_t i = x.rank(); i-- > 0;) order.push_back(i);
  return x.permute(order);
}
Result movedim(Call& c) {
  const auto x = self_of(c);
  const auto from = c.integers("source"), to = c.integers("destination");
  if (from.size() != to.size()) fail("movedim: {} axes to {} places", from.size(), to.size());
  constexpr auto kFree = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> order(x.rank(), kFree);
  std::vector<bool> is_moved(x.rank());
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto axis = axis_in(from[i], x.rank());
    order.at(axis_in(to[i], x.rank())) = axis;
    is_moved.at(axis) = true;
  }
  std::size_t next = 0;
  for (auto& place : order) {
    if (place != kFree) continue;
    while (next < x.rank() && is_moved[next]) ++next;
    place = next++;
  }
  return x.permute(order);
}

Result expand(Call& c) {
  const auto x = self_of(c);
  auto shape = c.has("other") ? c.tensor("other").shape() : c.dims("size");
  if (shape.size() < x.rank()) fail("{} to {}", to_string(x.shape()), to_string(shape));
  const auto more = shape.size() - x.rank();
  for (std::size_t i = more; i < shape.size(); ++i) {
    if (shape[i].is(-1)) shape[i] = x.shape()[i - more];
  }
  return x.broadcast_to(shape);
}
Result unsqueeze(Call& c) {
  const auto x = self_of(c);
  return x.unsqueeze(signed_axis(axis_in(c.integer("dim"), x.rank() + 1)));
}
// Axes of extent 1 among those named; of all where none is.
Result squeeze(Call& c) {
  auto x = self_of(c);
  const auto axes = axes_in(c.integers("dim"), x.rank());
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (x.shape()[axes[i]].is(1)) x = x.squeeze(signed_axis(axes[i]));
  }
  return x;
}

// A place along an axis as Python counts: negative from the end, outside at the nearest end.
Dim bounded_place(const Graph& graph, const Dim& place, const Dim& extent) {
  if (const auto number = place.constant()) {
    if (*number < 0) {
      const auto from_end = extent + place;
      const auto constant = from_end.constant();
      return constant && *constant < 0 ? Dim(0) : from_end;
    }
    if (*number == std::numeric_limits<std::int64_t>::max()) return extent;
  }
  const auto room = extent - place;
  if (room.constant()) return *room.constant() < 0 ? extent : place;
  return room.range(graph.symbols()).low >= 0 ? place : min(place, extent);
}
Result slice(Call& c) {
  const auto x = self_of(c);
  const auto axis = axis_in(c.integer("dim", 0), x.rank());
  const auto& extent = x.shape()[axis];
  const auto begin = bounded_place(c.graph(), c.dim("start", 0), extent);
  auto end = bounded_place(c.graph(), c.dim("end", extent), extent);
  const auto length = (end - begin).constant();
  if (length && *length < 0) end = begin;
  return x.slice(signed_axis(axis), begin, end, c.integer("step", 1));
}
Result narrow(Call& c) {
  const auto x = self_of(c);
  const auto axis = axis_in(c.integer("dim"), x.rank());
  const auto begin = c.dim("start");
  return x.slice(signed_axis(axis), begin, begin + c.dim("length"));
}
GraphTensor selected(const GraphTensor& x, std::size_t axis, const Dim& index) {
  const auto number = index.constant();
  const auto place = number && *number < 0 ? x.shape()[axis] + index : index;
  return x.slice(signed_axis(axis), place, place + 1).squeeze(signed_axis(axis));
}
Result select_index(Call& c) {
  const auto x = self_of(c);
  return selected(x, axis_in(c.integer("dim"), x.rank()), c.dim("index"));
}

Result split_by(const GraphTensor& x, std::size_t axis, const std::vector<Dim>& sizes) {
  std::vector<GraphTensor> parts;
  Dim begin = 0;
  for (const auto& size : sizes) {
    parts.push_back(x.slice(signed_axis(axis), begin, begin + size));
    begin += size;
  }
  return parts;
}
std::int64_t known_extent(const GraphTensor& x, std::size_t axis) {
  const auto extent = x.shape()[axis].constant();
  if (!extent) fail("an axis of unknown extent as parts: {}", to_string(x.shape()));
  return *extent;
}
Result split_in(const GraphTensor& x, std::size_t axis, std::int64_t size) {
  constexpr std::int64_t kMostParts = 1 << 16;
  const auto extent = known_extent(x, axis);
  if (size < 1 || extent / size > kMostParts) fail("{} in parts of {}", extent, size);
  std::vector<Dim> sizes;
  for (std::int64_t begin = 0; begin < extent; begin += size) {
    sizes.emplace_back(std::min(size, extent - begin));
  }
  if (sizes.empty()) sizes.emplace_back(0);
  return split_by(x, axis, sizes);
}
Result split(Call& c) {
  const auto x = self_of(c);
  const auto axis = axis_in(c.integer("dim", 0), x.rank());
  if (c.has("split_sizes")) return split_by(x, axis, c.dims("split_sizes"));
  return split_in(x, axis, c.integer("split_size"));
}
Result split_sizes(Call& c) {
  const auto x = self_of(c);
  const auto* name = c.has("split_sizes") ? "split_sizes" : "split_size";
  return split_by(x, axis_in(c.integer("dim", 0), x.rank()), c.dims(name));
}
Result chunk(Call& c) {
  const auto x = self_of(c);
  const auto axis = axis_in(c.integer("dim", 0), x.rank());
  const auto count = c.integer("chunks"), extent = known_extent(x, axis);
  if (count < 1) fail("{} parts", count);
  return split_in(x, axis, std::max<std::int64_t>(1, (extent + count - 1) / count));
}
Result unbind(Call& c) {
  const auto x = self_of(c);
  const auto axis = axis_in(c.integer("dim", 0), x.rank());
  std::vector<GraphTensor> parts;
  constexpr std::int64_t kMostParts = 1 << 16;
  const auto extent = known_extent(x, axis);
  if (extent > kMostParts) fail("{} parts", extent);
  for (std::int64_t i = 0; i < extent; ++i) parts.push_back(selected(x, axis, i));
  return parts;
}

GraphTensor with_view(const GraphTensor& x, View view) {
  return GraphTensor::of_node(x.graph(), x.node(), std::move(view));
}
Result unfold(Call& c) {
  const auto x = self_of(c);
  const auto axis = axis_in(c.integer("dimension"), x.rank());
  const auto size = c.integer("size"), step = c.integer("step");
  const auto extent = known_extent(x, axis);
  if (size < 0 || size > extent || step < 1) fail("windows of {} by {} of {}", size, step, extent);
  auto view = x.view();
  view.shape.emplace_back(size);
  view.strides.push_back(view.strides[axis]);
  view.shape[axis] = (extent - size) / step + 1;
  view.strides[axis] *= step;
  return with_view(x, std::move(view));
}
Result diagonal(Call& c) {
  const auto x = self_of(c);
  const auto a = axis_in(c.integer("dim1", 0), x.rank()),
             b = axis_in(c.integer("dim2", 1), x.rank());
  const auto offset = c.integer("offset", 0);
  if (a == b || x.rank() < 2) fail("the diagonal of axes {} and {}", a, b);
  const auto below = std::max<std::int64_t>(0, -offset), above = std::max<std::int64_t>(0, offset);
  const auto rows = known_extent(x, a) - below, columns = known_extent(x, b) - above;
  auto view = x.view();
  view.offset += view.strides[a] * below + view.strides[b] * above;
  const auto step = view.strides[a] + view.strides[b];
  for (const auto axis : {std::max(a, b), std::min(a, b)}) {
    view.shape.erase(view.shape.begin() + static_cast<std::ptrdiff_t>(axis));
    view.strides.erase(view.strides.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  view.shape.emplace_back(std::max<std::int64_t>(0, std::min(rows, columns)));
  view.strides.push_back(step);
  return with_view(x, std::move(view));
}

Result as_it_is(Call& c) { return self_of(c); }
Result converted(Call& c) {
  const auto x = self_of(c);
  if (c.has("other")) return x.cast(c.tensor("other").dtype());
  return x.cast(c.dtype().value_or(x.dtype()));
}

constexpr bool kIsView = true;
constexpr auto kViews = std::to_array<Operator>({
    {"aten._unsafe_view.default", view, "", kIsView},
    {"aten.alias.default", as_it_is, "", kIsView},
    {"aten.chunk.default", chunk, "axes of known extent", kIsView},
    {"aten.contiguous.default", as_it_is, "", kIsView},
    {"aten.detach.default", as_it_is, "", kIsView},
    {"aten.detach_.default", as_it_is, "", kIsView},
    {"aten.diagonal.default", diagonal, "axes of known extent", kIsView},
    {"aten.expand.default", expand, "", kIsView},
    {"aten.expand_as.default", expand, "", kIsView},
    {"aten.flatten.using_ints", flatten, "", kIsView},
    {"aten.mT.default", turned, "", kIsView},
    {"aten.movedim.int", movedim, "", kIsView},
    {"aten.movedim.intlist", movedim, "", kIsView},
    {"aten.narrow.default", narrow, "", kIsView},
    {"aten.numpy_T.default", reversed_axes, "", kIsView},
    {"aten.permute.default", permute, "", kIsView},
    {"aten.reshape.default", reshape, "", kIsView},
    {"aten.select.int", select_index, "", kIsView},
    {"aten.slice.Tensor", slice, "", kIsView},
    {"aten.split.Tensor", split, "axes of known extent", kIsView},
    {"aten.split.sizes", split_sizes, "", kIsView},
    {"aten.split_with_sizes.default", split_sizes, "", kIsView},
    {"aten.squeeze.default", squeeze, "", kIsView},
    {"aten.squeeze.dim", squeeze, "", kIsView},
    {"aten.squeeze.dims", squeeze, "", kIsView},
    {"aten.swapaxes.default", transpose, "", kIsView},
    {"aten.t.default", turned, "", kIsView},
    {"aten.to.device", converted, "", kIsView},
    {"aten.to.dtype", converted, "", kIsView},
    {"aten.to.dtype_layout", converted, "", kIsView},
    {"aten.to.other", converted, "", kIsView},
    {"aten.transpose.int", transpose, "", kIsView},
    {"aten.type_as.default", converted, "", kIsView},
    {"aten.unbind.int", unbind, "axes of known extent", kIsView},
    {"aten.unflatten.int", unflatten, "", kIsView},
    {"aten.unfold.default", unfold, "axes of known extent", kIsView},
    {"aten.unsqueeze.default", unsqueeze, "", kIsView},
    {"aten.view.default", view, "", kIsView},
    {"aten.view_as.default", like_other, "", kIsView},
});

}  // namespace

std::span<const Operator> view_operators() { return kViews; }

}  // namespace assay::models::pt2
