// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Parts of a tensor, as views.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "models/pt2/aten/forms.h"
#include "models/pt2/operators.h"

namespace assay::models::pt2 {
namespace {

using namespace assay::compiler;  // NOLINT: the front end's words are this file's

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
  const auto x = c.tensor("self");
  const auto axis = axis_in(c.integer("dim", 0), x.rank());
  if (c.has("split_sizes")) return split_by(x, axis, c.dims("split_sizes"));
  return split_in(x, axis, c.integer("split_size"));
}
Result split_sizes(Call& c) {
  const auto x = c.tensor("self");
  const auto* name = c.has("split_sizes") ? "split_sizes" : "split_size";
  return split_by(x, axis_in(c.integer("dim", 0), x.rank()), c.dims(name));
}
Result chunk(Call& c) {
  const auto x = c.tensor("self");
  const auto axis = axis_in(c.integer("dim", 0), x.rank());
  const auto count = c.integer("chunks"), extent = known_extent(x, axis);
  if (count < 1) fail("{} parts", count);
  return split_in(x, axis, std::max<std::int64_t>(1, (extent + count - 1) / count));
}
Result unbind(Call& c) {
  const auto x = c.tensor("self");
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
  const auto x = c.tensor("self");
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
  const auto x = c.tensor("self");
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

constexpr bool kPartIsView = true;
constexpr auto kParts = std::to_array<Operator>({
    {"aten.chunk.default", chunk, "axes of known extent", kPartIsView},
    {"aten.diagonal.default", diagonal, "axes of known extent", kPartIsView},
    {"aten.split.Tensor", split, "axes of known extent", kPartIsView},
    {"aten.split.sizes", split_sizes, "", kPartIsView},
    {"aten.split_with_sizes.default", split_sizes, "", kPartIsView},
    {"aten.unbind.int", unbind, "axes of known extent", kPartIsView},
    {"aten.unfold.default", unfold, "axes of known extent", kPartIsView},
});

}  // namespace

std::span<const Operator> part_operators() { return kParts; }

}  // namespace assay::models::pt2
