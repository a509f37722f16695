// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of one number, as primitives. None of them (but cos, see there) takes the difference of
// two numbers that are nearly equal: what is small is as exact as what is large.
#include <cmath>
#include <numbers>

#include "compiler/graph/computed_wide.h"

namespace assay::compiler {

GraphTensor exp(const GraphTensor& x) {
  return computed_wide(x, [](const GraphTensor& w) { return exp2(w * std::numbers::log2e); });
}
GraphTensor log(const GraphTensor& x) {
  return computed_wide(x, [](const GraphTensor& w) { return log2(w) * std::numbers::ln2; });
}

// Of sin(x + π/2) the sum would be rounded, and large x have no cosine left. Near its zeros this
// one is exact to the last place of 1.
GraphTensor cos(const GraphTensor& x) {
  return computed_wide(x, [](const GraphTensor& w) {
    const auto half = sin(w * 0.5);
    return half * half * -2.0 + 1.0;
  });
}

GraphTensor sigmoid(const GraphTensor& x) {
  return computed_wide(x, [](const GraphTensor& w) { return recip(exp(-w) + 1.0); });
}

// Lambert's continued fraction tanh y = y / (1 + y² / (3 + y² / (5 + …))) of a fourth of x, then
// twice tanh 2y = 2t / (1 + t²). There is nothing but sums of positive numbers in it; 1 − 2 / (e²ˣ
// + 1) has no digit left where x is small. Within 3 · 2⁻²³ and 3 · 2⁻⁵², relative.
GraphTensor tanh(const GraphTensor& x) {
  return computed_wide(x, [](const GraphTensor& w) {
    const bool is_f64 = w.dtype() == DType::kF64;
    const int levels = is_f64 ? 8 : 3;
    const double ends = is_f64 ? 19.07 : 9.02;  // it is 1 from there on
    const auto y = max(-max(w, w.like(-ends)), w.like(-ends)) * -0.25;
    const auto square = y * y;
    auto below = y.like(2 * levels + 1);
    for (int i = levels; i-- > 0;) below = square * recip(below) + (2.0 * i + 1);
    auto t = y * recip(below);
    for (int i = 0; i < 2; ++i) t = t * recip(t * t * 0.5 + 0.5);
    return t;
  });
}

// eˣ − 1 = (eˣ + 1) tanh(x / 2).
GraphTensor expm1(const GraphTensor& x) {
  return computed_wide(x, [](const GraphTensor& w) { return (exp(w) + 1.0) * tanh(w * 0.5); });
}

// Near 0 2 artanh s = 2 (s + s³/3 + s⁵/5 + …), where s = x / (x + 2) is below 0.15.
GraphTensor log1p(const GraphTensor& x) {
  return computed_wide(x, [](const GraphTensor& w) {
    const auto s = w * recip(w + 2.0), square = s * s;
    const int terms = w.dtype() == DType::kF64 ? 10 : 5;
    auto series = w.like(2.0 / (2 * terms - 1));
    for (int i = terms - 1; i-- > 0;) series = series * square + 2.0 / (2 * i + 1);
    const auto is_small = less(w.like(-0.25), w) * less(w, w.like(0.35));
    return select(is_small, s * series, log(w + 1.0));
  });
}

GraphTensor silu(const GraphTensor& x) {
  return computed_wide(x, [](const GraphTensor& w) { return w * sigmoid(w); });
}
// (1 + tanh z) / 2 is sigmoid 2z, which has a tail on either side.
GraphTensor gelu_tanh(const GraphTensor& x) {
  return computed_wide(x, [](const GraphTensor& w) {
    const auto inner = (w + w * w * w * 0.044715) * std::sqrt(2 / std::numbers::pi);
    return w * sigmoid(inner * 2.0);
  });
}
GraphTensor relu(const GraphTensor& x) { return max(x, x.like(0)); }

}  // namespace assay::compiler
