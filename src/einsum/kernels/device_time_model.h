// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "einsum/kernels/time_model.h"

namespace assay::einsum {

// A GPU's model before any calibration: what an H200 on a fast bus does, within a factor of a few.
TimeModel default_device_model();

}  // namespace assay::einsum
