// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/view.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"

namespace assay::compiler {
namespace {

void check_axis(const View& view, std::size_t axis, const char* what) {
  if (axis >= view.rank()) {
    fail("{}: no axis {} in shape {}", what, axis, to_string(view.shape));
  }
}

template <typename T>
auto place(std::vector<T>& items, std::size_t at) {
  return items.begin() + static_cast<std::ptrdiff_t>(at);
}

}  // namespace

View View::contiguous(std::vector<Dim> shape) {
  View view;
  view.strides.resize(shape.size());
  Dim stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    view.strides[i] = stride;
    stride = stride * shape[i];
  }
  view.shape = std::move(shape);
  return view;
}

bool View::is_contiguous() const {
  if (!offset.is(0)) return false;
  Dim stride = 1;
  for (std::size_t i = rank(); i-- > 0;) {
    if (shape[i].is(1)) continue;
    if (!(strides[i] == stride)) return false;
    stride = stride * shape[i];
  }
  return true;
}

View View::permute(const std::vector<std::size_t>& order) const {
  auto sorted = order;
  std::ranges::sort(sorted);
  bool is_permutation = sorted.size() == rank();
  for (std::size_t i = 0; is_permutation && i < sorted.size(); ++i) is_permutation = sorted[i] == i;
  if (!is_permutation) {
    fail("permute: not an order of the {} axes of {}: [{}]", rank(), compiler::to_string(shape),
         fmt::join(order, ", "));
  }
  View view;
  view.offset = offset;
  for (const auto axis : order) {
    view.shape.push_back(shape[axis]);
    view.strides.push_back(strides[axis]);
  }
  return view;
}

View View::insert(std::size_t axis, const Dim& extent) const {
  if (axis > rank()) fail("insert: no place {} in shape {}", axis, compiler::to_string(shape));
  View view = *this;
  view.shape.insert(place(view.shape, axis), extent);
  view.strides.insert(place(view.strides, axis), Dim(0));
  return view;
}

View View::expand(std::size_t axis, const Dim& extent) const {
  check_axis(*this, axis, "expand");
  if (!shape[axis].is(1)) {
    fail("expand: axis {} of {} is {}, not 1: to {}", axis, compiler::to_string(shape),
         shape[axis].to_string(), extent.to_string());
  }
  View view = *this;
  view.shape[axis] = extent;
  view.strides[axis] = 0;
  return view;
}

View View::squeeze(std::size_t axis) const {
  check_axis(*this, axis, "squeeze");
  if (!shape[axis].is(1)) {
    fail("squeeze: axis {} of {} is {}, not 1", axis, compiler::to_string(shape),
         shape[axis].to_string());
  }
  View view = *this;
  view.shape.erase(place(view.shape, axis));
  view.strides.erase(place(view.strides, axis));
  return view;
}

View View::split(std::size_t axis, const Dim& inner) const {
  check_axis(*this, axis, "split");
  const Dim outer = floor_div(shape[axis], inner);
  if (!(outer * inner == shape[axis])) {
    fail("split: {} does not divide axis {} of {}", inner.to_string(), axis,
         compiler::to_string(shape));
  }
  View view = *this;
  view.shape[axis] = outer;
  view.strides[axis] = strides[axis] * inner;
  view.shape.insert(place(view.shape, axis + 1), inner);
  view.strides.insert(place(view.strides, axis + 1), strides[axis]);
  return view;
}

std::optional<View> View::merge(std::size_t axis) const {
  check_axis(*this, axis, "merge");
  check_axis(*this, axis + 1, "merge");
  Dim stride = strides[axis + 1];
  if (shape[axis + 1].is(1)) {
    stride = strides[axis];
  } else if (!shape[axis].is(1) && !(strides[axis] == strides[axis + 1] * shape[axis + 1])) {
    return std::nullopt;
  }
  View view = *this;
  view.shape[axis] = shape[axis] * shape[axis + 1];
  view.strides[axis] = stride;
  view.shape.erase(place(view.shape, axis + 1));
  view.strides.erase(place(view.strides, axis + 1));
  return view;
}

View View::slice(std::size_t axis, const Dim& begin, const Dim& end, std::int64_t step) const {
  check_axis(*this, axis, "slice");
  const Dim extent = floor_div(end - begin + (step - 1), step < 1 ? 1 : step);
  const auto is_negative = [](const Dim& d) { return d.constant().value_or(0) < 0; };
  if (step < 1 || is_negative(begin) || is_negative(end - begin) ||
      is_negative(shape[axis] - end)) {
    fail("slice: {}:{}:{} of axis {} of {}", begin.to_string(), end.to_string(), step, axis,
         compiler::to_string(shape));
  }
  View view = *this;
  view.offset = offset + begin * strides[axis];
  view.shape[axis] = extent;
  view.strides[axis] = strides[axis] * step;
  return view;
}

View View::reverse(std::size_t axis) const {
  check_axis(*this, axis, "reverse");
  View view = *this;
  view.offset = offset + (shape[axis] - 1) * strides[axis];
  view.strides[axis] = strides[axis] * -1;
  return view;
}

std::optional<View> View::reshape(const std::vector<Dim>& to) const {
  const Dim have = product(shape), want = product(to);
  if (!(have == want)) {
    fail("reshape: {} elements of {} as {} of {}", have.to_string(), compiler::to_string(shape),
         want.to_string(), compiler::to_string(to));
  }
  if (want.is(0)) return contiguous(to);
  // As few axes as strides allow, then split as wanted.
  View view = *this;
  for (std::size_t i = 0; i + 1 < view.rank();) {
    if (auto merged = view.merge(i)) {
      view = std::move(*merged);
    } else {
      ++i;
    }
  }
  if (view.rank() == 0) view = view.insert(0, 1);
  View result;
  result.offset = view.offset;
  std::size_t from = 0;
  Dim left = view.shape[0];  // of axis `from`, not yet part of the result
  for (std::size_t i = 0; i < to.size(); ++i) {
    while (left.is(1) && !to[i].is(1) && from + 1 < view.rank()) left = view.shape[++from];
    const Dim rest = floor_div(left, to[i]);
    if (!(rest * to[i] == left)) return std::nullopt;
    left = rest;
    result.shape.push_back(to[i]);
    result.strides.push_back(to[i].is(1) ? Dim(0) : left * view.strides[from]);
  }
  return result;
}

std::string View::to_string() const {
  return fmt::format("{} strides {} offset {}", compiler::to_string(shape),
                     compiler::to_string(strides), offset.to_string());
}

std::int64_t FixedView::element_count() const {
  std::int64_t count = 1;
  for (const auto extent : shape) count *= extent;
  return count;
}

FixedView fixed(const View& view, const Bindings& values, std::int64_t elements) {
  FixedView f;
  f.offset = view.offset.at(values);
  // In 128 bits, where nothing overflows.
  __extension__ using Wide = __int128;
  Wide low = f.offset, high = f.offset;
  bool is_empty = false;
  for (std::size_t i = 0; i < view.rank(); ++i) {
    f.shape.push_back(view.shape[i].at(values));
    f.strides.push_back(view.strides[i].at(values));
    if (f.shape[i] < 0) fail("an extent is {} in {}", f.shape[i], view.to_string());
    is_empty = is_empty || f.shape[i] == 0;
    const Wide reach = Wide{f.shape[i] - 1} * f.strides[i];
    (reach < 0 ? low : high) += reach;
  }
  if (!is_empty && (low < 0 || high >= elements)) {
    fail("a view reads outside of its {} elements: {}", elements, view.to_string());
  }
  return f;
}

}  // namespace assay::compiler
