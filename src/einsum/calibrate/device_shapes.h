// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "einsum/calibrate/calibration_shapes.h"

namespace assay::einsum {

// What the calibration of a GPU measures: sizes from far too small for it to far beyond its cache.
// No tensor has more than kDeviceShapeElements.
inline constexpr std::int64_t kDeviceShapeElements = 1 << 24;
const std::vector<CalibrationShape>& device_calibration_shapes();

}  // namespace assay::einsum
