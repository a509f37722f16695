// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a particle meets on its way.

#include <vector>

#include "transport/surface/geometry.h"

namespace assay::transport {

struct FieldLinePoint {
  double turns = 0;  // ζ/2π, toroidal turns of the torus
  double b = 0;      // [T]
};

// |B| along the field line through θ = ζ = 0, for once around poloidally, at least one toroidal
// turn and at most four: dθ/dζ = B^θ/B^ζ, fields between the grid's points by trigonometric
// interpolation.
std::vector<FieldLinePoint> field_line(const Geometry& geometry);

}  // namespace assay::transport
