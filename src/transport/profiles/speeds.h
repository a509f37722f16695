// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Integrals over speeds x = v/v_t from 0 to ∞ of what falls as e^{−x²}: Gauss's rule on panels.

#include <span>
#include <vector>

namespace assay::transport {

struct QuadraturePoint {
  double x = 0, weight = 0;
};

// Gauss–Legendre with `order` points on every interval between neighbouring `edges` (ascending).
std::vector<QuadraturePoint> panel_rule(std::span<const double> edges, int order);

// Panels for functions of x with powers at 0 and bends of width 1, up to x = 7, where e^{−x²} is
// 5e-22; `scales` adds panels around bends elsewhere (the speeds of other species, in units of this
// one's).
std::vector<double> speed_panels(std::span<const double> scales = {});

}  // namespace assay::transport
