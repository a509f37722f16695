// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "transport/surface/geometry.h"

namespace assay::transport {

// Shares of the highest Fourier modes (an eighth of each angle's, at least one; without an even
// number's last) in what f_0, f_1 and f_2 vary over the surface: modes[source][k] on the grid; the
// larger of the two sources.
struct AngleShares {
  double theta = 0, zeta = 0;
};
AngleShares highest_modes(const Grid& grid, const std::array<std::array<Field, 3>, 2>& modes);

}  // namespace assay::transport
