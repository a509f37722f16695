// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/tolerance.h"

#include <algorithm>
#include <cmath>

#include "tensor/roundoff.h"

namespace assay::cases::own {
namespace {

constexpr double kOperations = 8;  // on an element, beside the sum

}  // namespace

Tolerance derived_tolerance(DType dtype, std::int64_t length, std::span<const double> values) {
  // In f64 the oracle's own roundings count as well.
  const double u = unit_roundoff(dtype) * (dtype == DType::kF64 ? 2 : 1);
  // Scaled by the largest, so that squares neither overflow nor vanish.
  double largest = 0, sum = 0, count = 0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  for (const double value : values) {
    if (!std::isfinite(value) || largest == 0) continue;
    sum += (value / largest) * (value / largest);
    ++count;
  }
  const double typical = count > 0 ? largest * std::sqrt(sum / count) : 0;
  const double root = std::sqrt(static_cast<double>(length));
  return {kOperations * u, kOperations * u * root * typical};
}

}  // namespace assay::cases::own
