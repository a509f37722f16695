// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorting by counting: an element's place is the number of those that come before it.
#include <array>

#include "base/error.h"
#include "models/pt2/aten/forms.h"
#include "models/pt2/operators.h"

namespace assay::models::pt2 {
namespace {

using namespace assay::compiler;  // NOLINT: the front end's words are this file's

struct Sorted {
  GraphTensor values, places;
};

// Along the last axis; equal ones keep their order, NaN is greater than all numbers.
Sorted sorted_last(const GraphTensor& self, bool is_falling) {
  const auto x = self.dtype() == DType::kBool ? self.cast(DType::kI32) : self;
  auto& graph = x.graph();
  const auto& n = x.shape().back();
  const auto mine = x.unsqueeze(-1), other = x.unsqueeze(-2);
  const auto is_less = [](const GraphTensor& a, const GraphTensor& b) {
    if (!is_floating(a.dtype())) return less(a, b);
    return less(a, b) + logical_not(is_nan(a)) * is_nan(b);
  };
  const auto place = GraphTensor::iota(graph, n);
  const auto is_left = less(place.unsqueeze(0), place.unsqueeze(1));
  const auto below = is_less(other, mine), above = is_less(mine, other);
  const auto is_before = (is_falling ? above : below) + logical_not(below + above) * is_left;
  const auto rank = is_before.cast(DType::kI64).sum(-1);
  // Each element, and where it was, to the place of its rank.
  std::vector<GraphTensor> along;
  for (std::size_t i = 0; i + 1 < x.rank(); ++i) {
    along.push_back(along_axis(graph, x.shape()[i], i, x.rank()));
  }
  along.push_back(rank);
  const auto to = flat_places(graph, x.shape(), along);
  const auto empty = x.like(0).broadcast_to(x.shape()),
             none = place.like(0).broadcast_to(x.shape());
  return {scatter(empty, to, x).cast(self.dtype()),
          scatter(none, to, place.broadcast_to(x.shape()))};
}

Sorted sorted_along(const GraphTensor& x, std::int64_t axis, bool is_falling,
                    std::optional<std::int64_t> first = {}) {
  if (x.rank() == 0) return {x, integer_constant(x.graph(), DType::kI64, 0)};
  const auto at = signed_axis(axis_in(axis, x.rank()));
  auto [values, places] = sorted_last(x.transpose(at, -1), is_falling);
  if (first) {
    values = values.slice(-1, 0, *first);
    places = places.slice(-1, 0, *first);
  }
  return {values.transpose(at, -1), places.transpose(at, -1)};
}

Result sort(Call& c) {
  const auto sorted =
      sorted_along(c.tensor("self"), c.integer("dim", -1), c.flag("descending", false));
  return std::vector{sorted.values, sorted.places};
}
Result argsort(Call& c) {
  return sorted_along(c.tensor("self"), c.integer("dim", -1), c.flag("descending", false)).places;
}
Result topk(Call& c) {
  const auto sorted =
      sorted_along(c.tensor("self"), c.integer("dim", -1), c.flag("largest", true), c.integer("k"));
  return std::vector{sorted.values, sorted.places};
}

// How many boundaries, which rise, are below a value, or not above it; all of them for NaN.
GraphTensor bucket(Call& c, const GraphTensor& x, const GraphTensor& boundaries) {
  const bool is_right = c.flag("right", false) || c.text("side", "left") == "right";
  const auto value = x.unsqueeze(-1);
  const auto is_above = is_right ? less(value, boundaries) : less_equal(value, boundaries);
  return logical_not(is_above).cast(c.flag("out_int32", false) ? DType::kI32 : DType::kI64).sum(-1);
}
Result bucketize(Call& c) { return bucket(c, c.tensor("self"), c.tensor("boundaries")); }

constexpr std::string_view kQuadratic = "n² comparisons for n elements";
constexpr auto kOrdering = std::to_array<Operator>({
    {"aten.argsort.default", argsort, kQuadratic},
    {"aten.argsort.stable", argsort, kQuadratic},
    {"aten.bucketize.Tensor", bucketize, "values and boundaries of one dtype"},
    {"aten.sort.default", sort, "stable; n² comparisons for n elements"},
    {"aten.sort.stable", sort, kQuadratic},
    {"aten.topk.default", topk, "of equal ones the first; n² comparisons for n elements"},
});

}  // namespace

std::span<const Operator> ordering_operators() { return kOrdering; }

}  // namespace assay::models::pt2
