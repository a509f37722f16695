// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Operations that people know, each as primitives. Rules find them again by these very forms.
#include <cmath>

#include "base/error.h"
#include "compiler/graph/computed_wide.h"

namespace assay::compiler {
namespace {

// A dimension as a value: an expression of symbols, which is at least 0, is the last of 0 … dim.
GraphTensor number(Graph& graph, const Dim& dim, DType dtype) {
  if (const auto value = dim.constant()) {
    return GraphTensor::constant(graph, dtype, static_cast<double>(*value));
  }
  return GraphTensor::iota(graph, dim + 1).slice(0, dim, dim + 1).squeeze(0).cast(dtype);
}

// The extent of an axis as a value, also where it is a symbol: how often 1 repeats.
GraphTensor extent_value(const GraphTensor& x, std::size_t axis) {
  const auto& extent = x.shape()[axis];
  if (extent.constant()) return number(x.graph(), extent, x.dtype());
  return x.like(1).unsqueeze(0).expand(0, extent).sum(0);
}

std::size_t axis_in(const GraphTensor& x, int axis, const char* what) {
  const auto rank = static_cast<int>(x.rank());
  if (axis < -rank || axis >= rank)
    fail("{}: no axis {} in shape {}", what, axis, to_string(x.shape()));
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

[[noreturn]] void wrong_dtypes(const char* op, const GraphTensor& a, const GraphTensor& b) {
  fail("{}: {} {} and {} {}: dtypes do not mix, cast one of them", op, name_of(a.dtype()),
       to_string(a.shape()), name_of(b.dtype()), to_string(b.shape()));
}

bool can_be_empty(const GraphTensor& x) {
  return product(x.shape()).range(x.graph().symbols()).low < 1;
}

// x from `before` on along an axis that is so long, and `value` around it: of elements there may be
// none to be read, but none to be written.
GraphTensor put_into(const GraphTensor& x, std::size_t at, const Dim& before, const Dim& extent,
                     double value) {
  auto& graph = x.graph();
  auto shape = x.shape();
  shape[at] = extent;
  auto index = number(graph, 0, DType::kI64);
  for (std::size_t i = 0; i < x.rank(); ++i) {
    auto along = GraphTensor::iota(graph, x.shape()[i]);
    if (i == at) along = along + number(graph, before, DType::kI64);
    for (std::size_t k = i + 1; k < x.rank(); ++k) along = along.unsqueeze(-1);
    index = i == 0 ? along : index * number(graph, shape[i], DType::kI64) + along;
  }
  return scatter(x.like(value).broadcast_to(shape), index, x);
}

}  // namespace

GraphTensor operator-(const GraphTensor& x) { return x * x.like(-1); }
GraphTensor operator-(const GraphTensor& a, const GraphTensor& b) { return a + (-b); }
GraphTensor operator+(const GraphTensor& a, double b) { return a + a.like(b); }
GraphTensor operator-(const GraphTensor& a, double b) { return a + a.like(-b); }
GraphTensor operator*(const GraphTensor& a, double b) { return a * a.like(b); }
GraphTensor operator/(const GraphTensor& a, double b) { return a / a.like(b); }
GraphTensor min(const GraphTensor& a, const GraphTensor& b) {
  if (a.dtype() == DType::kBool) return a * b;
  // −x of the least integer is that integer, −x − 1 is the greatest.
  const auto turned = [](const GraphTensor& x) { return is_floating(x.dtype()) ? -x : -x - 1.0; };
  return turned(max(turned(a), turned(b)));
}
GraphTensor logical_not(const GraphTensor& x) { return select(x, x.like(0), x.like(1)); }
GraphTensor less_equal(const GraphTensor& a, const GraphTensor& b) {
  // Neither holds of NaN.
  return less(a, b) + equal(a, b);
}
GraphTensor equal(const GraphTensor& a, const GraphTensor& b) {
  const auto differ = less(a, b) + less(b, a);
  if (!is_floating(a.dtype())) return logical_not(differ);
  // NaN is neither less nor greater, and not equal: a number is less than or at least something.
  const auto is_number = [](const GraphTensor& x) {
    return less(x, x.like(INFINITY)) + less(x.like(-INFINITY), x);
  };
  return logical_not(differ) * is_number(a) * is_number(b);
}

GraphTensor GraphTensor::mean(int axis, bool keeps) const {
  const auto n = extent_value(*this, axis_in(*this, axis, "mean"));
  return sum(axis, keeps) / n;
}

GraphTensor matmul(const GraphTensor& a, const GraphTensor& b) {
  const auto wrong = [&] {
    fail("matmul: shapes {} and {} do not go together", to_string(a.shape()), to_string(b.shape()));
  };
  if (a.rank() == 0 || b.rank() == 0) wrong();
  const auto x = a.rank() == 1 ? a.unsqueeze(0) : a;
  const auto y = b.rank() == 1 ? b.unsqueeze(1) : b;
  if (!(x.shape().back() == y.shape()[y.rank() - 2])) wrong();
  if (a.dtype() != b.dtype()) wrong_dtypes("matmul", a, b);
  // […, m, 1, k] times […, 1, n, k], summed over k.
  auto product = (widened_of(x).unsqueeze(-2) * widened_of(y).transpose().unsqueeze(-3)).sum(-1);
  product = product.cast(a.dtype());
  if (b.rank() == 1) product = product.squeeze(-1);
  if (a.rank() == 1) product = product.squeeze(b.rank() == 1 ? -1 : -2);
  return product;
}

GraphTensor softmax(const GraphTensor& x, int axis) {
  return computed_wide(x, [axis](const GraphTensor& w) {
    const auto e = exp(w - w.max(axis, true));
    return e * recip(e.sum(axis, true));
  });
}
GraphTensor rms_norm(const GraphTensor& x, const GraphTensor& weight, double epsilon) {
  if (x.dtype() != weight.dtype()) wrong_dtypes("rms_norm", x, weight);
  return computed_wide(x, [&](const GraphTensor& w) {
    return w * recip(sqrt((w * w).mean(-1, true) + epsilon)) * widened_of(weight);
  });
}
GraphTensor layer_norm(const GraphTensor& x, const GraphTensor& weight, const GraphTensor& bias,
                       double epsilon) {
  if (x.dtype() != weight.dtype()) wrong_dtypes("layer_norm", x, weight);
  if (x.dtype() != bias.dtype()) wrong_dtypes("layer_norm", x, bias);
  return computed_wide(x, [&](const GraphTensor& w) {
    const auto centred = w - w.mean(-1, true);
    return centred * recip(sqrt((centred * centred).mean(-1, true) + epsilon)) *
               widened_of(weight) +
           widened_of(bias);
  });
}

GraphTensor rows(const GraphTensor& table, const GraphTensor& index) {
  if (table.rank() != 2) fail("rows: of a table of two axes, got {}", to_string(table.shape()));
  if (can_be_empty(table)) fail("rows: of a table that can be empty: {}", to_string(table.shape()));
  const auto width = GraphTensor::iota(table.graph(), table.shape()[1], index.dtype());
  const auto first = index.unsqueeze(-1) * number(table.graph(), table.shape()[1], index.dtype());
  return gather(table, first + width);
}

GraphTensor pad(const GraphTensor& x, int axis, const Dim& before, const Dim& after, double value) {
  const auto at = axis_in(x, axis, "pad");
  const Dim extent = x.shape()[at] + before + after;
  if (can_be_empty(x)) return put_into(x, at, before, extent, value);
  // Where an element comes from, and whether there is one.
  auto& graph = x.graph();
  auto position = GraphTensor::iota(graph, extent) - number(graph, before, DType::kI64);
  const auto size = number(graph, x.shape()[at], DType::kI64);
  auto inside = logical_not(less(position, position.like(0))) * less(position, size);
  // Flat indices of x, axis by axis.
  auto index = position.like(0);
  for (std::size_t i = 0; i < x.rank(); ++i) {
    auto along = i == at ? position : GraphTensor::iota(graph, x.shape()[i]);
    for (std::size_t k = i + 1; k < x.rank(); ++k) along = along.unsqueeze(-1);
    index = i == 0 ? along : index * number(graph, x.shape()[i], DType::kI64) + along;
  }
  for (std::size_t k = at + 1; k < x.rank(); ++k) inside = inside.unsqueeze(-1);
  return select(inside, gather(x, index), x.like(value));
}

GraphTensor concat(const std::vector<GraphTensor>& parts, int axis) {
  if (parts.empty()) fail("concat: of nothing");
  const auto at = axis_in(parts[0], axis, "concat");
  Dim total = 0;
  for (const auto& part : parts) {
    auto shape = part.shape();
    if (shape.size() == parts[0].rank()) shape[at] = parts[0].shape()[at];
    if (!(shape == parts[0].shape()) || part.dtype() != parts[0].dtype()) {
      fail("concat: {} {} and {} {} along axis {}", name_of(parts[0].dtype()),
           to_string(parts[0].shape()), name_of(part.dtype()), to_string(part.shape()), at);
    }
    total += part.shape()[at];
  }
  if (parts.size() == 1) return parts[0];
  // Each part in its place, chosen by position: addition would not keep NaN out.
  auto& graph = parts[0].graph();
  auto position = GraphTensor::iota(graph, total);
  for (std::size_t k = at + 1; k < parts[0].rank(); ++k) position = position.unsqueeze(-1);
  auto result = parts[0];
  Dim begin = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Dim end = begin + parts[i].shape()[at];
    const auto placed = pad(parts[i], static_cast<int>(at), begin, total - end, 0);
    result =
        i == 0 ? placed : select(less(position, number(graph, begin, DType::kI64)), result, placed);
    begin = end;
  }
  return result;
}

GraphTensor cumulative_sum(const GraphTensor& x, int axis) {
  const auto at = axis_in(x, axis, "cumulative_sum");
  const auto n = x.shape()[at];
  // [… , i, j, …]: element j where j ≤ i, else 0; summed over j.
  auto& graph = x.graph();
  const auto i = GraphTensor::iota(graph, n).unsqueeze(1),
             j = GraphTensor::iota(graph, n).unsqueeze(0);
  auto keep = logical_not(less(i, j));
  for (std::size_t k = at + 1; k < x.rank(); ++k) keep = keep.unsqueeze(-1);
  return select(keep, x.unsqueeze(static_cast<int>(at)), x.like(0)).sum(static_cast<int>(at) + 1);
}

}  // namespace assay::compiler
