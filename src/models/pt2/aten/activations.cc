// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Activations, and dropout where it does nothing.
#include <array>
#include <numbers>

#include "base/error.h"
#include "models/pt2/aten/erf.h"
#include "models/pt2/aten/forms.h"
#include "models/pt2/operators.h"

namespace assay::models::pt2 {
namespace {

using namespace assay::compiler;  // NOLINT: the front end's words are this file's

// max(x, 0) + log(1 + e^−|x|): no overflow.
GraphTensor soft_plus(const GraphTensor& x) { return max(x, x.like(0)) + log1p(exp(-absolute(x))); }
GraphTensor log_of_sigmoid(const GraphTensor& x) { return -soft_plus(-x); }
GraphTensor clamped(const GraphTensor& x, double low, double high) {
  return min(max(x, x.like(low)), x.like(high));
}
GraphTensor relu6(const GraphTensor& x) { return clamped(x, 0, 6); }
GraphTensor hard_sigmoid(const GraphTensor& x) { return relu6(x + 3.0) / 6.0; }
GraphTensor hard_swish(const GraphTensor& x) { return x * relu6(x + 3.0) / 6.0; }
GraphTensor mish(const GraphTensor& x) { return x * tanh(soft_plus(x)); }
GraphTensor gelu_exact(const GraphTensor& x) {
  return x * 0.5 * erfc_of(x * std::numbers::sqrt2 * -0.5);
}
Result gelu(Call& c) {
  const auto form = c.text("approximate", "none");
  if (form != "none" && form != "tanh") fail("gelu '{}'", form);
  return form == "tanh" ? floating_unary<gelu_tanh>(c) : floating_unary<gelu_exact>(c);
}
Result softplus(Call& c) {
  const double beta = c.number("beta", 1), threshold = c.number("threshold", 20);
  return elementwise(c, {"self"}, [&](const auto& x) {
    const auto scaled = x[0] * beta;
    return select(less(scaled.like(threshold), scaled), x[0], soft_plus(scaled) / beta);
  });
}
Result elu(Call& c) {
  const double alpha = c.number("alpha", 1), scale = c.number("scale", 1),
               input_scale = c.number("input_scale", 1);
  return elementwise(c, {"self"}, [&](const auto& x) {
    const auto below = expm1(x[0] * input_scale) * (alpha * scale);
    return select(less(x[0].like(0), x[0]), x[0] * scale, below);
  });
}
Result leaky_relu(Call& c) {
  const double slope = c.number("negative_slope", 0.01);
  return elementwise(c, {"self"}, [&](const auto& x) {
    return select(less(x[0].like(0), x[0]), x[0], x[0] * slope);
  });
}
Result hardtanh(Call& c) {
  const double low = c.number("min_val", -1), high = c.number("max_val", 1);
  return elementwise(c, {"self"}, [&](const auto& x) { return clamped(x[0], low, high); });
}
// The first half of an axis, as far as the second lets it through.
Result glu(Call& c) {
  const auto x = c.tensor("self");
  const auto axis = axis_in(c.integer("dim", -1), x.rank());
  const auto extent = x.shape()[axis], half = floor_div(extent, 2);
  const auto wide = widened(x);
  const auto first = wide.slice(signed_axis(axis), 0, half),
             second = wide.slice(signed_axis(axis), half, extent);
  return (first * sigmoid(second)).cast(x.dtype());
}
// A slope for each channel, which is axis 1.
Result prelu(Call& c) {
  const auto x = c.tensor("self");
  auto slope = c.tensor("weight").flatten();
  if (slope.shape()[0].is(1)) slope = slope.squeeze(0);
  for (std::size_t i = 2; slope.rank() > 0 && i < x.rank(); ++i) slope = slope.unsqueeze(-1);
  const auto wide = widened(x);
  return select(less(wide.like(0), wide), wide, wide * widened(slope)).cast(x.dtype());
}
Result dropout(Call& c) {
  if (c.flag("train", false) && c.number("p", 0.5) != 0) {
    fail("dropout in training is random: export the module after eval()");
  }
  return c.tensor("input");
}

constexpr auto kActivations = std::to_array<Operator>({
    {"aten.alpha_dropout.default", dropout, "not in training"},
    {"aten.dropout.default", dropout, "not in training"},
    {"aten.elu.default", elu},
    {"aten.feature_dropout.default", dropout, "not in training"},
    {"aten.gelu.default", gelu, "both forms"},
    {"aten.glu.default", glu},
    {"aten.hardsigmoid.default", floating_unary<hard_sigmoid>},
    {"aten.hardswish.default", floating_unary<hard_swish>},
    {"aten.hardtanh.default", hardtanh},
    {"aten.leaky_relu.default", leaky_relu},
    {"aten.log_sigmoid.default", floating_unary<log_of_sigmoid>},
    {"aten.mish.default", floating_unary<mish>},
    {"aten.native_dropout.default", dropout, "not in training"},
    {"aten.prelu.default", prelu},
    {"aten.relu.default", plain_unary<relu>},
    {"aten.relu6.default", plain_unary<relu6>},
    {"aten.sigmoid.default", floating_unary<sigmoid>},
    {"aten.silu.default", floating_unary<silu>},
    {"aten.softplus.default", softplus},
});

}  // namespace

std::span<const Operator> activation_operators() { return kActivations; }

}  // namespace assay::models::pt2
