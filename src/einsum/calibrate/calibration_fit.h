// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "einsum/calibrate/calibration.h"

namespace assay::einsum {

// Fits one part's model to measured times: least squares of log(predicted/measured). The band is
// made of the errors at shapes that were left out of the fit and of the differences between passes,
// 90 % quantiles both. Deterministic.
PartModel fit(const PartModel& start, const std::vector<Measurement>& measurements);

}  // namespace assay::einsum
