// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/llm/block_point.h"

#include <algorithm>
#include <cmath>

#include "lab/record/point.h"

namespace assay::cases::llm {
namespace {

const double kUnit = std::sqrt(3.0);  // uniform on ±√3: unit variance
constexpr double kSharp = 2;  // what queries are scaled by: softmax then has something to say
constexpr double kRouterNoise = 5e-4;

void add_layer_inputs(BlockPoint& p) {
  const auto& s = p.size;
  using Shape = std::vector<std::int64_t>;
  const auto add = [&](const char* name, const Shape& shape, double width) {
    p.inputs.push_back({.name = name, .shape = shape, .low = -width, .high = width});
  };
  // A matrix whose products with vectors of unit variance have unit variance times `gain`.
  const auto add_weight = [&](const char* name, const Shape& shape, double gain = 1) {
    const auto fan_in = shape.size() == 3 ? shape[1] : shape.back();  // experts multiply from right
    const double width = gain * kUnit / std::sqrt(static_cast<double>(fan_in));
    add(name, shape, width);
    p.inputs.back().is_weight = true;
  };
  const auto add_norm = [&](const char* name) {
    p.inputs.push_back(
        {.name = name, .shape = {s.hidden}, .low = 0.5, .high = 1.5, .is_weight = true});
  };
  const auto add_mlp = [&] {
    add_weight("wg", {s.ffn, s.hidden});
    add_weight("wu", {s.ffn, s.hidden});
    add_weight("wd", {s.hidden, s.ffn});
  };
  const auto add_angles = [&](const char* name, GraphInput::Kind kind) {
    p.inputs.push_back({.name = name,
                        .shape = {p.tokens, s.head_width / 2},
                        .is_weight = true,
                        .kind = kind,
                        .first = p.cached});
  };
  if (p.block == "attention") {
    add("q", {s.heads, p.tokens, s.head_width}, kSharp * kUnit);
    add("k", {s.kv_heads, p.keys(), s.head_width}, kUnit);
    add("v", {s.kv_heads, p.keys(), s.head_width}, kUnit);
    return;
  }
  add("x", {p.tokens, s.hidden}, kUnit);
  if (p.block == "norm_matmul") {
    add_norm("g1");
    add_weight("w", {s.ffn, s.hidden});
  } else if (p.block == "mlp") {
    add_mlp();
  } else if (p.block == "moe") {
    p.inputs.back().kind = GraphInput::Kind::kRoutes;
    p.inputs.back().places = s.experts;
    add("wr", {s.experts, s.hidden}, kRouterNoise);
    p.inputs.back().kind = GraphInput::Kind::kRouter;
    p.inputs.back().is_weight = true;
    add_weight("wg", {s.experts, s.hidden, s.expert_ffn});
    add_weight("wu", {s.experts, s.hidden, s.expert_ffn});
    add_weight("wd", {s.experts, s.expert_ffn, s.hidden});
  } else {
    // What lies in the caches beyond the `cached` tokens is drawn too, and must not be seen.
    add("kcache", {s.kv_heads, p.keys(), s.head_width}, kUnit);
    add("vcache", {s.kv_heads, p.keys(), s.head_width}, kUnit);
    add_angles("cos", GraphInput::Kind::kCos);
    add_angles("sin", GraphInput::Kind::kSin);
    add_norm("g1");
    add_weight("wq", {s.heads * s.head_width, s.hidden}, kSharp);
    add_weight("wk", {s.kv_heads * s.head_width, s.hidden});
    add_weight("wv", {s.kv_heads * s.head_width, s.hidden});
    add_weight("wo", {s.hidden, s.heads * s.head_width});
    add_norm("g2");
    add_mlp();
  }
}

}  // namespace

LayerSize layer_size(const std::string& name) {
  if (name == "tiny") return {64, 160, 4, 2, 16, 8, 48, 2};
  check(name == "1b", "the size of a layer is one of the schema's");
  return {2048, 8192, 32, 8, 64, 16, 512, 4};
}

BlockPoint::BlockPoint(const Json& point)
    : block(lab::point_word(point, "block")),
      size(layer_size(lab::point_word(point, "size"))),
      tokens(lab::point_int(point, "tokens")),
      cached(lab::point_int(point, "cached")) {
  dtype = dtype_from_name(lab::point_word(point, "dtype"), "point");
  seed = lab::point_int(point, "seed");
  add_layer_inputs(*this);
}

std::vector<std::int64_t> BlockPoint::output_shape() const {
  if (block == "attention") return {size.heads, tokens, size.head_width};
  return {tokens, block == "norm_matmul" ? size.ffn : size.hidden};
}

double BlockPoint::multiply_adds() const {
  const auto s = static_cast<double>(tokens), d = static_cast<double>(size.head_width);
  const auto hidden = static_cast<double>(size.hidden), ffn = static_cast<double>(size.ffn);
  const auto heads = static_cast<double>(size.heads), kv = static_cast<double>(size.kv_heads);
  // Token i sees cached + i + 1 keys, for scores and for values.
  const double attention = 2 * heads * d * s * (static_cast<double>(cached) + (s + 1) / 2);
  if (block == "attention") return attention;
  if (block == "norm_matmul") return s * hidden * ffn;
  if (block == "mlp") return 3 * s * hidden * ffn;
  if (block == "moe") {
    const auto inner = static_cast<double>(size.expert_ffn * size.top);
    return s * hidden * (static_cast<double>(size.experts) + 3 * inner);
  }
  return attention + s * hidden * (2 * heads * d + 2 * kv * d + 3 * ffn);
}

double BlockPoint::moved_bytes() const {
  double elements = 1;
  for (const auto extent : output_shape()) elements *= static_cast<double>(extent);
  double all = bytes() + elements * static_cast<double>(size_of(dtype));
  if (block == "moe") {
    const double seen = static_cast<double>(std::min(size.experts, tokens * size.top));
    all -= bytes(true) * (1 - seen / static_cast<double>(size.experts));
  }
  return all;
}

// Let u be the dtype's unit roundoff, and u₃₂ that of f32, in which sums are made. All values of a
// layer have about unit size by the way the weights are drawn, and linear maps keep the size of
// errors as well. A rounding to the dtype errs by u/√3 of the value's size in the mean square; R of
// them on the way to the output, and six deviations for the largest of millions of elements, make
// 3.5·√R·u. A sum of K terms of size 1/√K errs by 8·√K·u₃₂ at most (semiring/tolerance.cc: 8·k·u
// for terms of unit size). Softmax turns the error of a score, sharp queries included, into a
// relative one of the weights: four times. Results larger than the mean are covered by 2u of
// themselves. All errors together have no such luck: their root mean square is the deviation,
// √(R/3)·u and a sixth of what sums may err by (a right program has half of it).
Tolerance BlockPoint::tolerance() const {
  const double u = unit_roundoff(dtype), u32 = unit_roundoff(DType::kF32);
  const auto sums = [](std::initializer_list<std::int64_t> lengths) {
    double total = 0;
    for (const auto k : lengths) total += std::sqrt(static_cast<double>(k));
    return total;
  };
  const auto bound = [&](double roundings, double summed) {
    return Tolerance{2 * u, 3.5 * std::sqrt(roundings) * u + 8 * u32 * summed,
                     std::sqrt(roundings / 3) * u + 8 * u32 * summed / 6};
  };
  if (block == "norm_matmul") return bound(4, sums({size.hidden, size.hidden}));
  if (block == "mlp") return bound(5, sums({size.hidden, size.ffn}));
  if (block == "moe") return bound(6, sums({size.hidden, size.hidden, size.expert_ffn}));
  const double attention = sums({size.head_width, keys()});
  if (block == "attention") return bound(3, 4 * attention);
  // Norm, projection, rotary; attention four times; projection, sum; norm, the gated product, sum.
  const double roundings = 3 + 16 + 2 + 2 + 5 + 1;
  return bound(roundings,
               4 * (sums({size.hidden, size.hidden}) + attention) +
                   sums({size.heads * size.head_width, size.hidden, size.hidden, size.ffn}));
}

// Norm, projection, rotary.
Tolerance BlockPoint::cache_tolerance() const {
  const double u = unit_roundoff(dtype), u32 = unit_roundoff(DType::kF32);
  const double root = std::sqrt(static_cast<double>(size.hidden));
  return {2 * u, 3.5 * std::sqrt(6.0) * u + 8 * u32 * 2 * root,
          std::sqrt(6.0 / 3) * u + 8 * u32 * 2 * root / 6};
}

}  // namespace assay::cases::llm
