// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/aten/forms.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"

namespace assay::models::pt2 {

using namespace assay::compiler;  // NOLINT: the front end's words are this file's

bool is_sixteen_bits(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16; }
DType wide_of(DType dtype) { return is_sixteen_bits(dtype) ? DType::kF32 : dtype; }
GraphTensor widened(const GraphTensor& x) { return x.cast(wide_of(x.dtype())); }

GraphTensor elementwise(Call& c, const std::vector<std::string_view>& names,
                        const std::function<GraphTensor(const std::vector<GraphTensor>&)>& f,
                        bool in_floating_point, Numbers numbers) {
  auto dtype = c.result_dtype(names);
  if (in_floating_point) dtype = c.floating_of(dtype);
  std::vector<GraphTensor> operands;
  for (const auto name : names) {
    const bool is_wide = numbers == Numbers::kWide && !c.is_tensor(name);
    operands.push_back(widened(c.operand(name, is_wide ? wide_of(dtype) : dtype)));
  }
  const auto result = f(operands);
  return result.dtype() == wide_of(dtype) ? result.cast(dtype) : result;
}

GraphTensor times_number(const Call& c, const GraphTensor& x, std::string_view name) {
  if (!c.has(name) || c.known_number(name) == 1) return x;
  return x * number_value(c.graph(), c.scalar(name), x.dtype());
}

std::size_t axis_in(std::int64_t axis, std::size_t rank) {
  const auto axes = static_cast<std::int64_t>(rank);
  if (axis < -axes || axis >= axes) fail("no axis {} of {}", axis, rank);
  return static_cast<std::size_t>(axis < 0 ? axis + axes : axis);
}
std::vector<std::size_t> axes_in(const std::vector<std::int64_t>& list, std::size_t rank) {
  std::set<std::size_t> axes;
  if (rank == 0) return {};
  for (const auto axis : list) axes.insert(axis_in(axis, rank));
  if (list.empty()) {
    for (std::size_t i = 0; i < rank; ++i) axes.insert(i);
  }
  return {axes.begin(), axes.end()};
}
int signed_axis(std::size_t axis) { return static_cast<int>(axis); }

std::vector<Dim> broadcast_shape(const std::vector<GraphTensor>& tensors) {
  std::vector<Dim> shape;
  for (const auto& tensor : tensors) {
    const auto& own = tensor.shape();
    while (shape.size() < own.size()) shape.insert(shape.begin(), 1);
    for (std::size_t i = 1; i <= own.size(); ++i) {
      auto& dim = shape[shape.size() - i];
      const auto& other = own[own.size() - i];
      if (dim.is(1))
        dim = other;
      else if (!(dim == other) && !other.is(1)) {
        fail("shapes {} and {} do not go together", to_string(shape), to_string(own));
      }
    }
  }
  return shape;
}

GraphTensor differs(const GraphTensor& a, const GraphTensor& b) { return logical_not(equal(a, b)); }
GraphTensor is_nan(const GraphTensor& x) {
  return logical_not(less(x, x.like(INFINITY)) + less(x.like(-INFINITY), x));
}
GraphTensor absolute(const GraphTensor& x) { return x.dtype() == DType::kBool ? x : max(x, -x); }
GraphTensor rounded_to_zero(const GraphTensor& x) {
  const auto size = absolute(x);
  // Of a fraction its sign is left; beyond 2⁵² every number is whole, and NaN stays.
  const auto whole = select(less(size, x.like(1)), x * 0.0, x.cast(DType::kI64).cast(x.dtype()));
  return select(less(size, x.like(0x1p52)), whole, x);
}
GraphTensor rounded_down(const GraphTensor& x) {
  const auto whole = rounded_to_zero(x);
  return select(less(x, whole), whole - 1.0, whole);
}
GraphTensor nonzero(const GraphTensor& x) { return x.cast(DType::kBool); }

GraphTensor integer_quotient(const GraphTensor& a, const GraphTensor& b) {
  const auto rest = mod(a, b), by = recip(b.cast(DType::kF64));
  const auto nearest = [&](const GraphTensor& multiple) {
    return rounded_down(multiple * by + 0.5).cast(a.dtype());
  };
  // Without its remainder it is a multiple, of which f64 finds the quotient up to a few in 2^52.
  // Only divisors below 2^14 have quotients so large that this is one or more, and what is then
  // left is a multiple of fewer than 2^20; that the integers before wrap around changes nothing.
  const auto near = nearest(a.cast(DType::kF64) - rest.cast(DType::kF64));
  const auto left = nearest((a - rest - near * b).cast(DType::kF64));
  return select(equal(b, b.like(0)), a.like(0), near + left);
}

GraphTensor selected(const GraphTensor& x, std::size_t axis, const Dim& index) {
  const auto place = counted_from_begin(x.graph(), index, x.shape()[axis]);
  return x.slice(signed_axis(axis), place, place + 1).squeeze(signed_axis(axis));
}

Dim counted_from_begin(const Graph& graph, const Dim& place, const Dim& extent) {
  return place.range(graph.symbols()).high < 0 ? extent + place : place;
}

GraphTensor along_axis(Graph& graph, const Dim& extent, std::size_t axis, std::size_t rank,
                       DType dtype) {
  auto places = GraphTensor::iota(graph, extent, dtype);
  for (auto i = axis + 1; i < rank; ++i) places = places.unsqueeze(-1);
  return places;
}
GraphTensor flat_places(Graph& graph, const std::vector<Dim>& shape,
                        const std::vector<GraphTensor>& along) {
  auto places = integer_constant(graph, DType::kI64, 0);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto next = along[i].cast(DType::kI64);
    places = i == 0 ? next : places * dim_value(graph, shape[i]) + next;
  }
  return places;
}
GraphTensor wrapped_index(const GraphTensor& index, const Dim& extent) {
  const auto wide = index.cast(DType::kI64);
  const auto size = dim_value(index.graph(), extent);
  return select(less(wide, wide.like(0)), wide + size, wide);
}

namespace {

// One reduction where a view can make the axes one, else one after the other.
GraphTensor reduced_over(const GraphTensor& x, const std::vector<std::size_t>& axes, bool keeps,
                         GraphTensor (GraphTensor::*reduce)(int, bool) const) {
  if (axes.empty()) return x;
  std::vector<std::size_t> order;
  std::vector<Dim> shape;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (std::ranges::find(axes, i) != axes.end()) continue;
    order.push_back(i);
    shape.push_back(x.shape()[i]);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  shape.push_back(extent_over(x, axes));
  const auto last = x.permute(order);
  auto result = last;
  if (const auto merged = last.view().reshape(shape)) {
    result = (GraphTensor::of_node(x.graph(), x.node(), *merged).*reduce)(-1, false);
  } else {
    for (std::size_t i = 0; i < axes.size(); ++i) result = (result.*reduce)(-1, false);
  }
  for (const auto axis : axes) {
    if (keeps) result = result.unsqueeze(signed_axis(axis));
  }
  return result;
}

}  // namespace

GraphTensor sum_over(const GraphTensor& x, const std::vector<std::size_t>& axes, bool keeps) {
  return reduced_over(x, axes, keeps, &GraphTensor::sum);
}
GraphTensor max_over(const GraphTensor& x, const std::vector<std::size_t>& axes, bool keeps) {
  return reduced_over(x, axes, keeps, &GraphTensor::max);
}
GraphTensor min_over(const GraphTensor& x, const std::vector<std::size_t>& axes, bool keeps) {
  if (x.dtype() == DType::kBool) return logical_not(max_over(logical_not(x), axes, keeps));
  // Of integers −1 − x, which every one of them has.
  const double from = is_floating(x.dtype()) ? 0 : -1;
  const auto turned = [&](const GraphTensor& y) { return from == 0 ? -y : (-y) + from; };
  return turned(max_over(turned(x), axes, keeps));
}
Dim extent_over(const GraphTensor& x, const std::vector<std::size_t>& axes) {
  Dim extent = 1;
  for (const auto axis : axes) extent *= x.shape()[axis];
  return extent;
}
GraphTensor mean_over(const GraphTensor& x, const std::vector<std::size_t>& axes, bool keeps) {
  const auto wide = widened(x);
  const auto count = dim_value(x.graph(), extent_over(x, axes), wide.dtype());
  return (sum_over(wide, axes, keeps) / count).cast(x.dtype());
}
GraphTensor variance_over(const GraphTensor& x, const std::vector<std::size_t>& axes,
                          double correction, bool keeps) {
  const auto wide = widened(x);
  const auto centred = wide - mean_over(wide, axes, true);
  const auto count = dim_value(x.graph(), extent_over(x, axes), wide.dtype());
  const auto by = max(count - correction, count.like(0));
  return (sum_over(centred * centred, axes, keeps) / by).cast(x.dtype());
}

GraphTensor linear_of(const GraphTensor& x, const GraphTensor& weight,
                      const std::optional<GraphTensor>& bias) {
  const auto product = matmul(widened(x), widened(weight).transpose());
  return (bias ? product + widened(*bias) : product).cast(x.dtype());
}

}  // namespace assay::models::pt2
