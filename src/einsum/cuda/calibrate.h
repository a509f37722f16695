// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "einsum/calibrate/calibration.h"

namespace assay::einsum::cuda {

// Measures the kernels of this machine's GPU and the way to it, and fits the time model to them.
// Takes a few seconds. `progress` is told what is measured next. Throws EnvironmentError,
// DeviceError.
Calibration calibrate(const std::function<void(const std::string&)>& progress = {});

}  // namespace assay::einsum::cuda
