// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Elements by indices. One outside is the nearest inside where elements are read, and left out
// where they are written; where torch refuses it, so does who runs the program (checks.h).
#include <array>
#include <cmath>

#include "base/error.h"
#include "models/pt2/aten/forms.h"
#include "models/pt2/operators.h"

namespace assay::models::pt2 {
namespace {

using namespace assay::compiler;  // NOLINT: the front end's words are this file's

using Indices = std::vector<std::optional<GraphTensor>>;

// Whether torch counts negative indices from the end. It refuses others outside, unless an operator
// promises that there are none.
enum class Negative : std::uint8_t { kWraps, kRefused, kPromised };
void refuse_outside(Call& c, const GraphTensor& index, const Dim& extent, Negative negative) {
  if (negative == Negative::kPromised) return;
  c.refuse_outside(index, extent, negative == Negative::kWraps);
}

// Flat places of what x[indices] is, by the rules of NumPy: axes of the indices stand where the
// indexed axes were, or in front where those are not beside each other.
GraphTensor indexed_places(Call& c, const GraphTensor& x, const Indices& indices,
                           Negative negative) {
  auto& graph = x.graph();
  std::vector<GraphTensor> given;
  std::size_t first = x.rank(), last = 0;
  if (indices.size() > x.rank()) fail("{} indices of {}", indices.size(), to_string(x.shape()));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i]) continue;
    if (indices[i]->dtype() == DType::kBool) {
      fail("a bool mask as index has a data-dependent shape, which is not covered");
    }
    given.push_back(*indices[i]);
    first = std::min(first, i);
    last = i;
  }
  if (given.empty()) fail("no index");
  const auto common = broadcast_shape(given);
  const bool is_together = last - first + 1 == given.size();
  // Axes that stay before and behind those of the indices.
  const auto before = is_together ? first : 0;
  const auto rank = x.rank() - given.size() + common.size();
  std::vector<GraphTensor> along;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (i < indices.size() && indices[i]) {
      refuse_outside(c, *indices[i], x.shape()[i], negative);
      auto index = wrapped_index(*indices[i], x.shape()[i]);
      for (auto k = before + common.size(); k < rank; ++k) index = index.unsqueeze(-1);
      along.push_back(index);
      continue;
    }
    const auto axis = kept < before ? kept : kept + common.size();
    along.push_back(along_axis(graph, x.shape()[i], axis, rank));
    ++kept;
  }
  return flat_places(graph, x.shape(), along);
}

template <Negative kNegative>
Result index(Call& c) {
  const auto x = c.tensor("self");
  return gather(x, indexed_places(c, x, c.optional_tensors("indices"), kNegative));
}

// x + the sum of all values that go to a place.
GraphTensor added_at(const GraphTensor& x, const GraphTensor& places, const GraphTensor& values) {
  const auto flat = places.flatten(), from = values.broadcast_to(places.shape()).flatten();
  const auto place = GraphTensor::iota(x.graph(), product(x.shape())).unsqueeze(1);
  const auto is_there = equal(flat.unsqueeze(0), place);
  const auto wide = widened(from);
  const auto sums = select(is_there, wide.unsqueeze(0), wide.like(0)).sum(1);
  return (widened(x) + sums.reshape(x.shape())).cast(x.dtype());
}

// x[mask] = value, where the value is the same for all that the mask has.
Result put_masked(const GraphTensor& x, const Indices& indices, GraphTensor value,
                  bool accumulates) {
  std::size_t before = 0;
  while (before < indices.size() && !indices[before]) ++before;
  auto mask = *indices[before];
  const auto axes = mask.rank();
  for (std::size_t i = before + 1; i < indices.size(); ++i) {
    if (indices[i]) fail("a bool mask beside other indices is not covered");
  }
  if (before + axes > x.rank())
    fail("a mask {} of {}", to_string(mask.shape()), to_string(x.shape()));
  const auto behind = x.rank() - before - axes;
  // One axis stands for as many elements as the mask has: it may be there with extent 1.
  if (value.rank() > behind) {
    const auto at = value.rank() - behind - 1;
    if (!value.shape()[at].is(1)) {
      fail("a value for each element of a bool mask has a data-dependent shape: {}",
           to_string(value.shape()));
    }
    value = value.squeeze(signed_axis(at));
    for (std::size_t i = 0; i < axes && at > 0; ++i) value = value.unsqueeze(signed_axis(at));
  }
  for (std::size_t i = 0; i < behind; ++i) mask = mask.unsqueeze(-1);
  return select(mask, accumulates ? x + value : value, x);
}
template <Negative kNegative>
Result index_put(Call& c) {
  const auto x = c.tensor("self");
  const auto indices = c.optional_tensors("indices");
  const auto values = c.tensor("values").cast(x.dtype());
  const bool accumulates = c.flag("accumulate", false);
  for (const auto& each : indices) {
    if (each && each->dtype() == DType::kBool) return put_masked(x, indices, values, accumulates);
  }
  const auto places = indexed_places(c, x, indices, kNegative);
  return accumulates ? added_at(x, places, values) : scatter(x, places, values);
}

// Places of index […] along one axis; the others run along.
GraphTensor places_along(Call& c, const GraphTensor& x, std::size_t axis,
                         const GraphTensor& index) {
  c.refuse_outside(index, x.shape()[axis], false);
  std::vector<GraphTensor> along;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    along.push_back(i == axis ? index
                              : along_axis(x.graph(), index.shape().at(i), i, index.rank()));
  }
  return flat_places(x.graph(), x.shape(), along);
}
Result gather_along(Call& c) {
  const auto x = c.tensor("self"), index = c.tensor("index");
  if (x.rank() == 0) {
    c.refuse_outside(index, 1, false);
    return x.broadcast_to(index.shape());
  }
  if (index.rank() != x.rank()) fail("{} by {}", to_string(x.shape()), to_string(index.shape()));
  return gather(x, places_along(c, x, axis_in(c.integer("dim"), x.rank()), index));
}
// The part of `source` that indices are for.
GraphTensor cut_to(GraphTensor source, const GraphTensor& index) {
  for (std::size_t i = 0; i < index.rank(); ++i) {
    if (!(source.shape().at(i) == index.shape()[i])) {
      source = source.slice(signed_axis(i), 0, index.shape()[i]);
    }
  }
  return source;
}
Result scatter_along(Call& c, bool adds) {
  const auto x = c.tensor("self"), index = c.tensor("index");
  const auto axis = axis_in(c.integer("dim"), x.rank());
  if (index.rank() != x.rank() || x.rank() == 0) {
    fail("{} by {}", to_string(x.shape()), to_string(index.shape()));
  }
  const bool is_value = c.has("value");
  const auto values = is_value ? number_value(c.graph(), c.scalar("value"), x.dtype())
                               : cut_to(c.tensor("src"), index);
  if (c.has("reduce")) fail("reduce '{}' is not covered", c.text("reduce", ""));
  const auto places = places_along(c, x, axis, index);
  if (!adds) return scatter(x, places, values);
  // Where only one axis matters, n² comparisons of it do.
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (i != axis && !(index.shape()[i] == x.shape()[i])) return added_at(x, places, values);
  }
  const int at = signed_axis(axis);
  const auto place = along_axis(c.graph(), x.shape()[axis], axis, x.rank() + 1);
  const auto is_there = equal(index.cast(DType::kI64).unsqueeze(at), place);
  const auto wide = widened(values).broadcast_to(index.shape());
  const auto sums = select(is_there, wide.unsqueeze(at), wide.like(0)).sum(at + 1);
  return (widened(x) + sums).cast(x.dtype());
}

GraphTensor places_of_rows(Call& c, const GraphTensor& x, std::size_t axis, Negative negative) {
  const auto index = c.tensor("index");
  Indices indices(axis + 1);
  indices[axis] = index.rank() == 0 ? index.unsqueeze(0) : index;
  return indexed_places(c, x, indices, negative);
}
Result index_select(Call& c) {
  const auto x = c.tensor("self");
  if (x.rank() == 0) {
    c.refuse_outside(c.tensor("index"), 1, false);
    return x;
  }
  return gather(x, places_of_rows(c, x, axis_in(c.integer("dim"), x.rank()), Negative::kRefused));
}
// Rows of `self` by index get those of `source`.
Result index_rows(Call& c, bool adds) {
  const auto x = c.tensor("self");
  const auto axis = axis_in(c.integer("dim"), x.rank());
  const auto places = places_of_rows(c, x, axis, Negative::kRefused);
  auto source = c.tensor("source").cast(x.dtype());
  if (adds) source = times_number(c, source, "alpha");
  return adds ? added_at(x, places, source) : scatter(x, places, source);
}
Result index_fill(Call& c) {
  const auto x = c.tensor("self");
  const auto places = places_of_rows(c, x, axis_in(c.integer("dim"), x.rank()), Negative::kWraps);
  return scatter(x, places, c.operand("value", x.dtype()).broadcast_to(places.shape()));
}
Result take(Call& c) {
  const auto x = c.tensor("self"), index = c.tensor("index");
  const auto count = product(x.shape());
  c.refuse_outside(index, count, true);
  return gather(x, wrapped_index(index, count));
}
Result embedding(Call& c) {
  if (c.flag("sparse", false)) fail("sparse gradients");
  const auto table = c.tensor("weight"), index = c.tensor("indices").cast(DType::kI64);
  c.refuse_outside(index, table.shape().at(0), false);
  return rows(table, index);
}
Result one_hot(Call& c) {
  const auto x = c.tensor("self");
  const auto classes = c.integer("num_classes", -1);
  if (classes < 0) fail("without a number of classes the shape is data-dependent");
  c.refuse_outside(x, classes, false);
  return equal(x.unsqueeze(-1), GraphTensor::iota(c.graph(), classes, x.dtype())).cast(DType::kI64);
}

// How many elements fall in each of equal parts of low … high; both ends count.
Result histc(Call& c) {
  const auto self = c.tensor("self");
  const auto x = widened(self).flatten();
  if (!is_floating(x.dtype())) fail("histc of {}", name_of(self.dtype()));
  const auto bins = c.integer("bins", 100);
  if (bins < 1) fail("{} bins", bins);
  auto low = x.like(c.number("min", 0)), high = x.like(c.number("max", 0));
  if (c.number("min", 0) == 0 && c.number("max", 0) == 0) {
    low = min_over(x, {0}, false);
    high = max_over(x, {0}, false);
  }
  const auto is_point = equal(low, high);
  const auto from = select(is_point, low - 1.0, low), to = select(is_point, high + 1.0, high);
  // As torch: product and quotient rounded one after the other.
  const auto place = rounded_down((x - from) * static_cast<double>(bins) / (to - from));
  const auto bin = min(place, place.like(static_cast<double>(bins - 1))).cast(DType::kI64);
  const auto is_inside = less_equal(from, x) * less_equal(x, to);
  const auto each = GraphTensor::iota(c.graph(), bins).unsqueeze(1);
  const auto is_there = equal(bin.unsqueeze(0), each) * is_inside.unsqueeze(0);
  return select(is_there, x.like(1), x.like(0)).sum(1).cast(self.dtype());
}

constexpr auto kWraps = Negative::kWraps, kPromised = Negative::kPromised;
constexpr std::string_view kNearest = "an index outside counts as the nearest inside";
constexpr std::string_view kLeftOut = "an index outside is left out";
constexpr std::string_view kProduct = "as many comparisons as elements times values";
constexpr auto kIndexing = std::to_array<Operator>({
    {"aten._unsafe_index.Tensor", index<kPromised>, kNearest},
    {"aten._unsafe_index_put.default", index_put<kPromised>, kLeftOut},
    {"aten.embedding.default", embedding},
    {"aten.gather.default", gather_along},
    {"aten.histc.default", histc, "as many comparisons as elements times bins"},
    {"aten.index.Tensor", index<kWraps>, "integers; a bool mask has a data-dependent shape"},
    {"aten.index_add.default", [](Call& c) { return index_rows(c, true); }, kProduct},
    {"aten.index_copy.default", [](Call& c) { return index_rows(c, false); }},
    {"aten.index_fill.int_Scalar", index_fill},
    {"aten.index_fill.int_Tensor", index_fill},
    {"aten.index_put.default", index_put<kWraps>,
     "integers, or a bool mask with a value that is the same for all it has"},
    {"aten.index_select.default", index_select},
    {"aten.one_hot.default", one_hot, "with a number of classes"},
    {"aten.scatter.src", [](Call& c) { return scatter_along(c, false); }},
    {"aten.scatter.value", [](Call& c) { return scatter_along(c, false); }},
    {"aten.scatter_add.default", [](Call& c) { return scatter_along(c, true); }, kProduct},
    {"aten.take.default", take},
});

}  // namespace

std::span<const Operator> indexing_operators() { return kIndexing; }

}  // namespace assay::models::pt2
