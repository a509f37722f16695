// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// cp() and tucker() of a tensor that is on the device and stays there: products with it, and with
// what was made of it, are contractions of the engine; factors, normal equations and eigenproblems,
// all of them small, are the processor's. Results, refusals and decisions are those of
// einsum/decompose, but for the order of sums.

#include "einsum/cuda/device_engine.h"
#include "einsum/decompose/cp.h"
#include "einsum/decompose/tucker.h"

namespace assay::einsum::cuda {

// Throw UserError as cp() and tucker() do; DeviceError where the device fails.
CpResult device_cp(DeviceEngine& engine, const DeviceTensor& x, const CpOptions& options);
TuckerResult device_tucker(DeviceEngine& engine, const DeviceTensor& x,
                           const TuckerOptions& options);

}  // namespace assay::einsum::cuda
