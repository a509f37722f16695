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
  if (!(shape[*open] * others == total) && c.declared().shape &&
      c.declared().shape->size() == shape.size()) {
    shape[*open] = (*c.declared().shape)[*open];
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
  if (place.range(graph.symbols()).high < 0) return max(extent + place, 0);
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
  const auto begin = counted_from_begin(c.graph(), c.dim("start"), x.shape()[axis]);
  return x.slice(signed_axis(axis), begin, begin + c.dim("length"));
}
Result select_index(Call& c) {
  const auto x = self_of(c);
  return selected(x, axis_in(c.integer("dim"), x.rank()), c.dim("index"));
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
    {"aten.contiguous.default", as_it_is, "", kIsView},
    {"aten.detach.default", as_it_is, "", kIsView},
    {"aten.detach_.default", as_it_is, "", kIsView},
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
    {"aten.unflatten.int", unflatten, "", kIsView},
    {"aten.unsqueeze.default", unsqueeze, "", kIsView},
    {"aten.view.default", view, "", kIsView},
    {"aten.view_as.default", like_other, "", kIsView},
});

}  // namespace

std::span<const Operator> view_operators() { return kViews; }

}  // namespace assay::models::pt2
