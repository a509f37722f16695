// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/semiring/tolerance.h"

#include <cmath>

#include "base/error.h"
#include "tensor/roundoff.h"

// Let u be the unit roundoff.
//
// A sum of k products of unit-variance numbers, one after the other: the partial sums grow like √j,
// each addition rounds by at most u of it, so the error's standard deviation is below u·k/√2. Six
// of those, for the largest of millions of elements, is 4.3·u·k; 8·u·k leaves room for blocked
// orders whose partial sums are larger at first. Cancellation can make the result small: the bound
// is absolute.
//
// A sum of k positive terms keeps its relative accuracy: about √k·u at random, 8·√k + 16 roundings
// with the same six deviations and a few units for each term's own function (exp, square).
//
// max and min round nothing; the addition behind each term rounds once.

namespace assay::cases::semiring {
namespace {

using assay::semiring::Algebra;

// Below the smallest normal number there is no relative accuracy to be had.
double smallest_normal(DType dtype) { return dtype == DType::kF32 ? 0x1p-126 : 0x1p-1022; }

}  // namespace

Tolerance matmul_tolerance(Algebra algebra, DType dtype, std::int64_t k, double largest_term) {
  const double u = unit_roundoff(dtype);
  const double terms = static_cast<double>(k);
  // The oracle accumulates in f64 itself: against f64 outputs both sides err alike.
  const double sides = dtype == DType::kF64 ? 2 : 1;
  const double positive_sum = sides * u * (8 * std::sqrt(terms) + 16);
  switch (algebra) {
    case Algebra::kReal:
      return {sides * 4 * u, sides * 8 * u * terms};
    case Algebra::kLog:  // log turns the sum's relative error into an absolute one
      return {sides * 4 * u, positive_sum + sides * 8 * u * largest_term};
    case Algebra::kMaxPlus:
    case Algebra::kMinPlus:
      return {sides * 2 * u, smallest_normal(dtype)};
    case Algebra::kEuclidean:
      return {positive_sum, smallest_normal(dtype)};
    case Algebra::kBoolean:
      return {0, 0};
  }
  throw InternalError("every algebra has a tolerance");
}

Tolerance edge_tolerance(DType dtype, std::int64_t features, std::int64_t slots) {
  const double u = unit_roundoff(dtype);
  const double d = static_cast<double>(features), k = static_cast<double>(slots);
  const double sides = dtype == DType::kF64 ? 2 : 1;
  // W·x errs by 8·u·d and has size √d; k of them, weighted by less than one, add up like √k, and
  // adding them rounds once more for each.
  return {sides * 4 * u, sides * 8 * u * (d * std::sqrt(k) + k * std::sqrt(d))};
}

}  // namespace assay::cases::semiring
