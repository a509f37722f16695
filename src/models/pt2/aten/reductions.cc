// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Over one axis, several, or all.
#include <array>
#include <cmath>

#include "base/error.h"
#include "models/pt2/aten/forms.h"
#include "models/pt2/operators.h"

namespace assay::models::pt2 {
namespace {

using namespace assay::compiler;  // NOLINT: the front end's words are this file's

std::vector<std::size_t> axes_of(const Call& c, std::size_t rank) {
  return axes_in(c.integers("dim"), rank);
}
bool keeps_axes(const Call& c) { return c.flag("keepdim", false); }

// Integers and bool are summed in i64.
GraphTensor summand(const Call& c) {
  const auto x = c.tensor("self");
  if (const auto dtype = c.dtype()) return x.cast(*dtype);
  return is_floating(x.dtype()) ? x : x.cast(DType::kI64);
}
Result sum(Call& c) {
  const auto x = summand(c);
  return sum_over(widened(x), axes_of(c, x.rank()), keeps_axes(c)).cast(x.dtype());
}
Result mean(Call& c) {
  const auto x = summand(c);
  if (!is_floating(x.dtype())) fail("the mean of {}", name_of(x.dtype()));
  return mean_over(x, axes_of(c, x.rank()), keeps_axes(c));
}
Result cumsum(Call& c) {
  const auto x = summand(c);
  if (x.rank() == 0) return x;
  return cumulative_sum(widened(x), signed_axis(axis_in(c.integer("dim"), x.rank())))
      .cast(x.dtype());
}

// By halves: as many products as a tree is high.
GraphTensor product_over(const GraphTensor& x, std::size_t axis, bool keeps) {
  const auto extent = x.shape()[axis].constant();
  if (!extent) fail("the product over an axis of unknown extent: {}", to_string(x.shape()));
  const int at = signed_axis(axis);
  auto left = x;
  std::optional<GraphTensor> rest;
  auto n = *extent;
  if (n == 0) return sum_over(x, {axis}, keeps) + 1.0;
  while (n > 1) {
    if (n % 2 == 1) {
      const auto last = left.slice(at, n - 1, n);
      rest = rest ? *rest * last : last;
    }
    n /= 2;
    left = left.slice(at, 0, n) * left.slice(at, n, 2 * n);
  }
  if (rest) left = left * *rest;
  return keeps ? left : left.squeeze(at);
}
Result prod(Call& c) {
  auto x = widened(summand(c));
  const auto axes = axes_of(c, x.rank());
  for (std::size_t i = axes.size(); i-- > 0;) x = product_over(x, axes[i], keeps_axes(c));
  return x.cast(summand(c).dtype());
}

// correction: what is taken from the number of elements; var.dim says it as a flag.
double correction_of(const Call& c) {
  if (c.has("correction")) return c.number("correction");
  return c.flag("unbiased", true) ? 1 : 0;
}
Result variance(Call& c) {
  const auto x = c.tensor("self");
  return variance_over(x, axes_of(c, x.rank()), correction_of(c), keeps_axes(c));
}
GraphTensor deviation_of(const Call& c) {
  const auto x = c.tensor("self");
  return sqrt(variance_over(widened(x), axes_of(c, x.rank()), correction_of(c), keeps_axes(c)))
      .cast(x.dtype());
}
Result deviation(Call& c) { return deviation_of(c); }
Result variance_and_mean(Call& c) {
  const auto x = c.tensor("self");
  const auto axes = axes_of(c, x.rank());
  return std::vector{variance_over(x, axes, correction_of(c), keeps_axes(c)),
                     mean_over(x, axes, keeps_axes(c))};
}

Result greatest(Call& c) {
  const auto x = c.tensor("self");
  return max_over(x, axes_of(c, x.rank()), keeps_axes(c));
}
Result smallest(Call& c) {
  const auto x = c.tensor("self");
  return min_over(x, axes_of(c, x.rank()), keeps_axes(c));
}
Result any(Call& c) {
  const auto x = nonzero(c.tensor("self"));
  return sum_over(x, axes_of(c, x.rank()), keeps_axes(c));
}
Result all(Call& c) {
  const auto x = nonzero(c.tensor("self"));
  return logical_not(sum_over(logical_not(x), axes_of(c, x.rank()), keeps_axes(c)));
}

// The first place of `best`, which is an element of x along the axis; NaN is the best.
GraphTensor first_place(const GraphTensor& x, const GraphTensor& best, std::size_t axis,
                        bool keeps) {
  auto is_it = equal(x, best);
  if (is_floating(x.dtype())) is_it = is_it + is_nan(x);
  const auto& extent = x.shape()[axis];
  const auto from_end =
      dim_value(x.graph(), extent - 1) - along_axis(x.graph(), extent, axis, x.rank());
  const auto last = max_over(select(is_it, from_end, from_end.like(-1)), {axis}, keeps);
  return dim_value(x.graph(), extent - 1) - last;
}
GraphTensor comparable(const GraphTensor& x) {
  return x.dtype() == DType::kBool ? x.cast(DType::kI32) : x;
}
Result extreme_and_place(Call& c, bool is_greatest) {
  const auto x = comparable(c.tensor("self"));
  const auto dtype = c.tensor("self").dtype();
  if (x.rank() == 0) return std::vector{x.cast(dtype), integer_constant(c.graph(), DType::kI64, 0)};
  const auto axis = axis_in(c.integer("dim"), x.rank());
  const auto best = is_greatest ? max_over(x, {axis}, true) : min_over(x, {axis}, true);
  const auto place = first_place(x, best, axis, true);
  const auto shaped = [&](const GraphTensor& y) {
    return keeps_axes(c) ? y : y.squeeze(signed_axis(axis));
  };
  return std::vector{shaped(best.cast(dtype)), shaped(place)};
}
Result place_of_extreme(Call& c, bool is_greatest) {
  auto x = comparable(c.tensor("self"));
  const auto rank = x.rank();
  const bool is_flat = !c.has("dim");
  if (is_flat) x = x.flatten();
  if (x.rank() == 0) return integer_constant(c.graph(), DType::kI64, 0);
  const auto axis = is_flat ? 0 : axis_in(c.integer("dim"), x.rank());
  const auto best = is_greatest ? max_over(x, {axis}, true) : min_over(x, {axis}, true);
  auto place = first_place(x, best, axis, keeps_axes(c) && !is_flat);
  for (std::size_t i = 0; is_flat && keeps_axes(c) && i < rank; ++i) place = place.unsqueeze(0);
  return place;
}

Result logsumexp(Call& c) {
  const auto self = c.tensor("self");
  const auto x = widened(self.cast(c.floating_of(self.dtype())));
  const auto axes = axes_of(c, x.rank());
  const auto greatest = max_over(x, axes, true);
  // ∞ − ∞ is none.
  const auto is_finite = less(absolute(greatest), greatest.like(INFINITY));
  const auto shift = select(is_finite, greatest, greatest.like(0));
  const auto sums = log(sum_over(exp(x - shift), axes, true)) + shift;
  auto result = sums;
  if (!keeps_axes(c)) {
    for (std::size_t i = axes.size(); i-- > 0;) result = result.squeeze(signed_axis(axes[i]));
  }
  return result.cast(c.floating_of(self.dtype()));
}
Result vector_norm(Call& c) {
  const auto self = c.tensor("self");
  const auto dtype = c.dtype().value_or(self.dtype());
  const auto x = widened(self.cast(dtype));
  const auto axes = axes_of(c, x.rank());
  const double order = c.number(c.has("p") ? "p" : "ord", 2);
  const bool keeps = keeps_axes(c);
  const auto size = absolute(x);
  const auto norm = [&] {
    if (order == 2) return sqrt(sum_over(x * x, axes, keeps));
    if (order == 1) return sum_over(size, axes, keeps);
    if (order == INFINITY) return max_over(size, axes, keeps);
    if (order == -INFINITY) return min_over(size, axes, keeps);
    if (order == 0) return sum_over(nonzero(x).cast(x.dtype()), axes, keeps);
    const auto wide = log2(size.cast(DType::kF64)) * order;
    return exp2(log2(sum_over(exp2(wide), axes, keeps)) * (1 / order)).cast(x.dtype());
  }();
  return norm.cast(dtype);
}

constexpr auto kReductions = std::to_array<Operator>({
    {"aten.all.default", all},
    {"aten.all.dim", all},
    {"aten.all.dims", all},
    {"aten.amax.default", greatest},
    {"aten.amin.default", smallest},
    {"aten.any.default", any},
    {"aten.any.dim", any},
    {"aten.any.dims", any},
    {"aten.argmax.default", [](Call& c) { return place_of_extreme(c, true); }},
    {"aten.argmin.default", [](Call& c) { return place_of_extreme(c, false); }},
    {"aten.cumsum.default", cumsum, "n² additions for n elements"},
    {"aten.linalg_vector_norm.default", vector_norm},
    {"aten.logsumexp.default", logsumexp},
    {"aten.max.default", greatest},
    {"aten.max.dim", [](Call& c) { return extreme_and_place(c, true); }},
    {"aten.mean.default", mean},
    {"aten.mean.dim", mean},
    {"aten.min.default", smallest},
    {"aten.min.dim", [](Call& c) { return extreme_and_place(c, false); }},
    {"aten.norm.Scalar", vector_norm},
    {"aten.norm.ScalarOpt_dim", vector_norm},
    {"aten.prod.default", prod, "axes of known extent"},
    {"aten.prod.dim_int", prod, "axes of known extent"},
    {"aten.std.correction", deviation},
    {"aten.std.dim", deviation},
    {"aten.std.default", deviation},
    {"aten.sum.default", sum},
    {"aten.sum.dim_IntList", sum},
    {"aten.var.correction", variance},
    {"aten.var.default", variance},
    {"aten.var.dim", variance},
    {"aten.var_mean.correction", variance_and_mean},
    {"aten.var_mean.dim", variance_and_mean},
});

}  // namespace

std::span<const Operator> reduction_operators() { return kReductions; }

}  // namespace assay::models::pt2
