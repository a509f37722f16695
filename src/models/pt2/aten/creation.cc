// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors out of nothing.
#include <array>
#include <cmath>

#include "base/error.h"
#include "models/pt2/aten/forms.h"
#include "models/pt2/operators.h"

namespace assay::models::pt2 {
namespace {

using namespace assay::compiler;  // NOLINT: the front end's words are this file's

DType dtype_of_number(const Call& c, const Number& number) {
  if (std::holds_alternative<bool>(number)) return DType::kBool;
  return std::holds_alternative<Dim>(number) ? DType::kI64 : c.default_floating();
}
GraphTensor filled(const Call& c, const std::vector<Dim>& shape, const Number& value, DType dtype) {
  return number_value(c.graph(), value, dtype).broadcast_to(shape);
}
Number given_value(const Call& c, double value) {
  return c.has("fill_value") ? c.scalar("fill_value") : Number(value);
}
// By a size.
Result full(Call& c) {
  const auto value = c.scalar("fill_value");
  return filled(c, c.dims("size"), value, c.dtype().value_or(dtype_of_number(c, value)));
}
template <int kValue>
Result constant(Call& c) {
  return filled(c, c.dims("size"), Dim(kValue), c.dtype().value_or(c.default_floating()));
}
// As another tensor, unless said otherwise.
template <int kValue>
Result alike(Call& c) {
  const auto x = c.tensor("self");
  const auto shape = c.has("size") ? c.dims("size") : x.shape();
  return filled(c, shape, given_value(c, kValue), c.dtype().value_or(x.dtype()));
}
Result scalar_tensor(Call& c) {
  return filled(c, {}, c.scalar("s"), c.dtype().value_or(c.default_floating()));
}

// start, start + step, … before end.
Result arange(Call& c) {
  const auto or_else = [&](std::string_view name, std::int64_t otherwise) {
    return c.has(name) ? c.scalar(name) : Number(Dim(otherwise));
  };
  const auto start = or_else("start", 0), end = c.scalar("end"), step = or_else("step", 1);
  const auto as_dim = [](const Number& n) { return std::get_if<Dim>(&n); };
  if (as_dim(start) != nullptr && as_dim(end) != nullptr && as_dim(step) != nullptr) {
    const auto by = as_dim(step)->constant();
    if (!by || *by == 0) fail("arange by '{}'", as_dim(step)->to_string());
    const auto room = *by > 0 ? *as_dim(end) - *as_dim(start) : *as_dim(start) - *as_dim(end);
    const auto size = *by > 0 ? *by : -*by;
    auto count = floor_div(room + (size - 1), size);
    if (count.constant() && *count.constant() < 0) count = 0;
    auto places = GraphTensor::iota(c.graph(), count);
    if (*by != 1) places = places * integer_constant(c.graph(), DType::kI64, *by);
    if (!as_dim(start)->is(0)) places = places + dim_value(c.graph(), *as_dim(start));
    return places.cast(c.dtype().value_or(DType::kI64));
  }
  const double first = c.number("start", 0), by = c.number("step", 1);
  const double count = std::ceil((c.number("end") - first) / by);
  if (!(count >= 0 && count < 0x1p40))
    fail("arange from {} to {} by {}", first, c.number("end"), by);
  const auto places = GraphTensor::iota(c.graph(), static_cast<std::int64_t>(count));
  const auto values = places.cast(DType::kF64) * by + first;
  return values.cast(c.dtype().value_or(c.default_floating()));
}
// From both ends, as torch does, so that both are exact.
Result linspace(Call& c) {
  const auto steps = c.integer("steps");
  const double start = c.number("start"), end = c.number("end");
  if (steps < 0) fail("{} steps", steps);
  const auto dtype = c.dtype().value_or(c.default_floating());
  const double by = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  const auto places = GraphTensor::iota(c.graph(), steps);
  const auto from_start = places.cast(DType::kF64) * by + start;
  const auto from_end =
      (places.cast(DType::kF64) * -1.0 + static_cast<double>(steps - 1)) * -by + end;
  const auto half = steps / 2;
  const auto is_first = less(places, places.like(static_cast<double>(half)));
  if (steps == 1) return from_start.cast(dtype);
  return select(is_first, from_start, from_end).cast(dtype);
}
Result eye(Call& c) {
  const auto rows = c.dim("n"), columns = c.dim("m", rows);
  const auto is_there =
      equal(GraphTensor::iota(c.graph(), rows).unsqueeze(1), GraphTensor::iota(c.graph(), columns));
  return is_there.cast(c.dtype().value_or(c.default_floating()));
}

constexpr std::string_view kZeros = "zeros";
constexpr auto kCreation = std::to_array<Operator>({
    {"aten.arange.default", arange},
    {"aten.arange.start", arange},
    {"aten.arange.start_step", arange},
    {"aten.empty.memory_format", constant<0>, kZeros},
    {"aten.empty_like.default", alike<0>, kZeros},
    {"aten.empty_permuted.default", constant<0>, kZeros},
    {"aten.eye.default", eye},
    {"aten.eye.m", eye},
    {"aten.full.default", full},
    {"aten.full_like.default", alike<0>},
    {"aten.linspace.default", linspace},
    {"aten.new_empty.default", alike<0>, kZeros},
    {"aten.new_empty_strided.default", alike<0>, kZeros},
    {"aten.new_full.default", alike<0>},
    {"aten.new_ones.default", alike<1>},
    {"aten.new_zeros.default", alike<0>},
    {"aten.ones.default", constant<1>},
    {"aten.ones_like.default", alike<1>},
    {"aten.scalar_tensor.default", scalar_tensor},
    {"aten.zeros.default", constant<0>},
    {"aten.zeros_like.default", alike<0>},
});

}  // namespace

std::span<const Operator> creation_operators() { return kCreation; }

}  // namespace assay::models::pt2
