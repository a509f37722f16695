// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/random.h"

#include <cmath>
#include <numbers>

namespace assay::lab {

double RandomStream::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - unit()));  // 1 − unit() is never zero
  return radius * std::cos(2 * std::numbers::pi * unit());
}

}  // namespace assay::lab
