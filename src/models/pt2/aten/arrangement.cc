// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Elements in other places: copies, not views.
#include <array>

#include "base/error.h"
#include "models/pt2/aten/forms.h"
#include "models/pt2/operators.h"
#include "models/pt2/promotion.h"

namespace assay::models::pt2 {
namespace {

using namespace assay::compiler;  // NOLINT: the front end's words are this file's

Result cat(Call& c) {
  std::vector<GraphTensor> parts;
  auto dtype = c.tensors("tensors").at(0).dtype();
  for (const auto& part : c.tensors("tensors")) dtype = promoted(dtype, part.dtype());
  for (const auto& part : c.tensors("tensors")) {
    // Nothing at all goes with every shape; what is empty adds nothing.
    if (!product(part.shape()).is(0)) parts.push_back(part.cast(dtype));
  }
  if (parts.empty()) fail("nothing but empty tensors");
  return concat(parts, signed_axis(axis_in(c.integer("dim", 0), parts[0].rank())));
}
Result stack(Call& c) {
  std::vector<GraphTensor> parts;
  const auto rank = c.tensors("tensors").at(0).rank();
  const auto axis = signed_axis(axis_in(c.integer("dim", 0), rank + 1));
  for (const auto& part : c.tensors("tensors")) parts.push_back(part.unsqueeze(axis));
  return concat(parts, axis);
}

// Pairs from the last axis on; below 0 takes away.
Result pad_constant(Call& c) {
  if (c.text("mode", "constant") != "constant") {
    fail("mode '{}' is not covered, only 'constant'", c.text("mode", ""));
  }
  auto x = c.tensor("self");
  const auto amounts = c.dims("pad");
  if (amounts.size() % 2 != 0 || amounts.size() / 2 > x.rank()) {
    fail("{} amounts for {} axes", amounts.size(), x.rank());
  }
  for (std::size_t i = 0; i + 1 < amounts.size(); i += 2) {
    const int axis = -1 - static_cast<int>(i / 2);
    auto before = amounts[i], after = amounts[i + 1];
    const auto extent = x.shape()[x.rank() - 1 - i / 2];
    const auto is_below = [](const Dim& d) { return d.constant().value_or(0) < 0; };
    const Dim begin = is_below(before) ? before * -1 : 0;
    const Dim end = is_below(after) ? extent + after : extent;
    if (!(begin.is(0) && end == extent)) x = x.slice(axis, begin, end);
    if (is_below(before)) before = 0;
    if (is_below(after)) after = 0;
    if (before.is(0) && after.is(0)) continue;
    x = pad(x, axis, before, after, c.number("value", 0));
  }
  return x;
}
Result flip(Call& c) {
  auto x = c.tensor("self");
  for (const auto axis : c.integers("dims")) x = x.reverse(signed_axis(axis_in(axis, x.rank())));
  return x;
}
GraphTensor rolled(const GraphTensor& x, int axis, const Dim& extent, std::int64_t shift) {
  const auto n = extent.constant();
  if (!n) fail("an axis of unknown extent: {}", to_string(x.shape()));
  const auto by = *n == 0 ? 0 : ((shift % *n) + *n) % *n;
  if (by == 0) return x;
  return concat({x.slice(axis, *n - by, *n), x.slice(axis, 0, *n - by)}, axis);
}
Result roll(Call& c) {
  const auto x = c.tensor("self");
  const auto shifts = c.integers("shifts"), axes = c.integers("dims");
  if (axes.empty()) {
    if (shifts.size() != 1) fail("{} shifts without axes", shifts.size());
    return rolled(x.flatten(), 0, product(x.shape()), shifts[0]).reshape(x.shape());
  }
  if (axes.size() != shifts.size()) fail("{} shifts for {} axes", shifts.size(), axes.size());
  auto result = x;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = axis_in(axes[i], x.rank());
    result = rolled(result, signed_axis(axis), x.shape()[axis], shifts[i]);
  }
  return result;
}
Result repeat(Call& c) {
  auto x = c.tensor("self");
  auto times = c.dims(c.has("dims") ? "dims" : "repeats");
  while (times.size() < x.rank()) times.insert(times.begin(), 1);
  while (x.rank() < times.size()) x = x.unsqueeze(0);
  const auto shape = x.shape();
  std::vector<Dim> result;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto axis = signed_axis(2 * i);
    x = x.unsqueeze(axis).expand(axis, times[i]);
    result.push_back(shape[i] * times[i]);
  }
  return x.reshape(result);
}
Result repeat_interleave(Call& c) {
  auto x = c.tensor("self");
  const bool is_flat = !c.has("dim");
  if (is_flat) x = x.flatten();
  const auto axis = is_flat ? 0 : axis_in(c.integer("dim"), x.rank());
  const auto times = c.dim("repeats");
  auto shape = x.shape();
  shape[axis] *= times;
  return x.unsqueeze(signed_axis(axis + 1)).expand(signed_axis(axis + 1), times).reshape(shape);
}
// Element (i, j) stays where j − i ≤ diagonal, or ≥.
Result triangle(Call& c, bool is_lower) {
  const auto x = c.tensor("self");
  if (x.rank() < 2) fail("a triangle of {}", to_string(x.shape()));
  const auto rows = GraphTensor::iota(c.graph(), x.shape()[x.rank() - 2]).unsqueeze(1);
  const auto columns = GraphTensor::iota(c.graph(), x.shape()[x.rank() - 1]);
  const auto edge = rows + number_value(c.graph(), c.dim("diagonal", 0), DType::kI64);
  const auto outside = is_lower ? less(edge, columns) : less(columns, edge);
  return select(outside, x.like(0), x);
}

// `src` in a part of `self`.
GraphTensor with_part(const GraphTensor& x, const GraphTensor& part, const GraphTensor& source) {
  Memory memory(x.graph());
  memory.expect_writes();
  const auto whole = memory.hold(x);
  memory.write(memory.hold_view(part, whole), source);
  return memory.whole(whole.storage).reshape(x.shape());
}
Result slice_scatter(Call& c) {
  const auto x = c.tensor("self").contiguous();
  const auto axis = axis_in(c.integer("dim", 0), x.rank());
  const auto source = c.tensor("src").cast(x.dtype());
  const auto& extent = x.shape()[axis];
  const auto begin = counted_from_begin(c.graph(), c.dim("start", 0), extent);
  const auto step = c.integer("step", 1);
  // As many as there are in what is put there.
  const auto end = begin + (source.shape().at(axis) - 1) * step + 1;
  return with_part(x, x.slice(signed_axis(axis), begin, end, step), source);
}
Result select_scatter(Call& c) {
  const auto x = c.tensor("self").contiguous();
  const auto axis = axis_in(c.integer("dim"), x.rank());
  return with_part(x, selected(x, axis, c.dim("index")), c.tensor("src").cast(x.dtype()));
}

Result clone(Call& c) { return c.tensor("self"); }
Result copy(Call& c) {
  const auto x = c.tensor("self");
  return c.tensor("src").cast(x.dtype()).broadcast_to(x.shape());
}
Result to_copy(Call& c) {
  // In the schema of prims it is "a".
  const auto x = c.tensor(c.has("self") ? "self" : "a");
  return x.cast(c.dtype().value_or(x.dtype()));
}
Result fill(Call& c) {
  const auto x = c.tensor("self");
  return c.operand("value", x.dtype()).reshape({}).broadcast_to(x.shape());
}
Result zero(Call& c) {
  const auto x = c.tensor("self");
  return x.like(0).broadcast_to(x.shape());
}
Result broadcast_tensors(Call& c) {
  auto tensors = c.tensors("tensors");
  auto shape = broadcast_shape(tensors);
  for (auto& tensor : tensors) tensor = tensor.broadcast_to(shape);
  return tensors;
}
// Neighbours' differences, n times over.
Result diff(Call& c) {
  auto x = c.tensor("self");
  const int axis = signed_axis(axis_in(c.integer("dim", -1), x.rank()));
  std::vector<GraphTensor> parts{x};
  if (const auto before = c.tensor_or_none("prepend")) parts.insert(parts.begin(), *before);
  if (const auto after = c.tensor_or_none("append")) parts.push_back(*after);
  x = concat(parts, axis);
  constexpr std::int64_t kMostTimes = 64;
  if (c.integer("n", 1) > kMostTimes) fail("{} times", c.integer("n"));
  for (auto left = c.integer("n", 1); left > 0; --left) {
    const auto extent = x.shape().at(static_cast<std::size_t>(axis));
    const auto next = x.slice(axis, 1, extent), self = x.slice(axis, 0, extent - 1);
    x = x.dtype() == DType::kBool ? differs(next, self) : next - self;
  }
  return x;
}
Result meshgrid(Call& c) {
  const auto given = c.tensors("tensors");
  if (given.size() > 1 && c.text("indexing", "ij") != "ij") fail("indexing other than 'ij'");
  std::vector<Dim> shape;
  for (const auto& x : given) shape.push_back(product(x.shape()));
  std::vector<GraphTensor> result;
  for (std::size_t i = 0; i < given.size(); ++i) {
    auto x = given[i].flatten();
    for (std::size_t k = i + 1; k < given.size(); ++k) x = x.unsqueeze(-1);
    result.push_back(x.broadcast_to(shape));
  }
  return result;
}

constexpr auto kArrangement = std::to_array<Operator>({
    {"aten._to_copy.default", to_copy},
    {"prims.convert_element_type.default", to_copy},
    {"aten.broadcast_tensors.default", broadcast_tensors},
    {"aten.cat.default", cat},
    {"aten.clone.default", clone},
    {"aten.concat.default", cat},
    {"aten.constant_pad_nd.default", pad_constant},
    {"aten.copy.default", copy},
    {"aten.diff.default", diff},
    {"aten.fill.Scalar", fill},
    {"aten.fill.Tensor", fill},
    {"aten.flip.default", flip},
    {"aten.lift_fresh_copy.default", clone},
    {"aten.meshgrid.default", meshgrid},
    {"aten.meshgrid.indexing", meshgrid},
    {"aten.pad.default", pad_constant, "by a constant"},
    {"aten.repeat.default", repeat},
    {"aten.repeat_interleave.self_int", repeat_interleave},
    {"aten.roll.default", roll, "axes of known extent"},
    {"aten.select_scatter.default", select_scatter},
    {"aten.slice_scatter.default", slice_scatter},
    {"aten.stack.default", stack},
    {"aten.tile.default", repeat},
    {"aten.tril.default", [](Call& c) { return triangle(c, true); }},
    {"aten.triu.default", [](Call& c) { return triangle(c, false); }},
    {"aten.zero.default", zero},
});

}  // namespace

std::span<const Operator> arrangement_operators() { return kArrangement; }

}  // namespace assay::models::pt2
