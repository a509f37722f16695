// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/llm/fusion_point.h"

#include <cmath>

#include "lab/record/point.h"

namespace assay::cases::llm {

FusionPoint::FusionPoint(const Json& point)
    : graph(lab::point_word(point, "graph")),
      n(lab::point_int(point, "n")),
      width(lab::point_int(point, "width")) {
  dtype = dtype_from_name(lab::point_word(point, "dtype"), "point");
  seed = lab::point_int(point, "seed");
  const double unit = std::sqrt(3.0);
  const auto add = [&](const char* name, double low, double high) {
    inputs.push_back({.name = name, .shape = {rows(), width}, .low = low, .high = high});
  };
  if (graph == "chain" || graph == "chain_sum") {
    // Sums whose sines are positive, and far from the zero of the root.
    add("a", 0.05, 0.75);
    add("b", 0.05, 0.75);
  } else if (graph == "gate" || graph == "softmax") {
    add("a", -4, 4);
    if (graph == "gate") add("b", -unit, unit);
  } else {
    add("a", -unit, unit);
    if (graph == "diamond" || graph == "affine") add("b", -unit, unit);
  }
  if (graph == "norm")
    inputs.push_back({.name = "w", .shape = {width}, .low = 0.5, .high = 1.5, .is_weight = true});
}

double FusionPoint::output_bytes() const {
  return static_cast<double>(is_summed() ? rows() : n) * static_cast<double>(size_of(dtype));
}

// Let u be the dtype's unit roundoff; 16-bit types may be computed in f32 throughout or rounded
// after each operation. Functions (sin, exp) count as two units in the last place, 4u.
//
// chain: the sum's u passes the sine's relative condition, below 1 here; sine 4u; the root halves
// that and adds u: below 4u. gate: e⁻ˣ of |x| ≤ 4 turns u of the exponent into 4u, and is 4u
// itself; sigmoid, its product with x and that with b 1u each: below 12u. diamond: |t| ≤ 2√3, so
// that t moves by 3.5u, its sine by 7.5u, their product by 30u, and the sum by 37u where nothing is
// larger than 5.2: absolute. affine: a product below 3, sums below 4.8 and 6.5, a rounding
// each: 15u, absolute. Sums of K terms are f32 and positive: relative, as in the semiring
// suite, (8√K + 16) u₃₂.
Tolerance FusionPoint::tolerance() const {
  const double u = unit_roundoff(dtype), sum = f32_sum(width), tiny = smallest_number(dtype);
  if (graph == "chain") return {4 * u, tiny};
  if (graph == "chain_sum") return {5 * u + sum, tiny};
  if (graph == "gate") return {12 * u, tiny};
  if (graph == "diamond") return {u, 40 * u};
  if (graph == "affine") return {u, 16 * u};
  if (graph == "norm") return {8 * u + sum, tiny};
  return {16 * u + sum, tiny};
}

}  // namespace assay::cases::llm
