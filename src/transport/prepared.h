// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What Prepared holds; for solve.cc and derivative.cc.

#include <optional>

#include "transport/solve.h"
#include "transport/system/operators.h"

namespace assay::transport {

struct Prepared::Parts {
  std::string name;
  Geometry geometry;
  BlockSystem full;
  std::optional<BlockSystem> parity;
  std::string rational_warning;
  std::string unresolved_rational;  // at zero field: a resonance of low order beyond the grid
  std::vector<std::string> notes;   // of the surface
  std::vector<std::string> field_warnings;  // of |B| itself on the grid
  double tiny_field = 0;  // |Ê| below it are lost in the rounding of the other terms
  bool rational = false;  // a divisor so small that Δ_0 is singular in f64 at Ê = 0
};

}  // namespace assay::transport
