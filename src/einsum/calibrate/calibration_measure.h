// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Measures the kernels on this machine and fits the time model to them.

#include <functional>
#include <string>

#include "einsum/calibrate/calibration.h"

namespace assay::einsum {

// Takes about a minute. `progress` is told what is measured next.
Calibration calibrate(int threads, const std::function<void(const std::string&)>& progress = {});

}  // namespace assay::einsum
