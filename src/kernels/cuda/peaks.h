// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Measured ceilings of this machine's GPU, as kernels/peaks/peaks.h has the processor's: the best
// of several rounds.

#include <map>
#include <string>

namespace assay::kernels::cuda {

// Rates per second:
//   read_<bytes>   bytes, reading so many again and again: of the second-level cache, and of memory
//   copy, triad    bytes of memory, read and written, each counted once
//   fma_f32, fma_f64, add_max_f32, exp_f32   of the operation named
//   add_max3_f32   pairs of an addition and a comparison, two of them by one maximum of three
//                  integers
//   gemm_f32, gemm_tf32, gemm_bf16, gemm_f16, gemm_f64   multiply-adds of cuBLAS at 8192³
//   launch, launch_in_graph   empty kernels, from the host and as a graph's nodes
//   to_device, from_device, to_device_pageable, from_device_pageable   bytes over the bus
// Takes a few seconds and 2.5 GiB of the device's memory. Throws DeviceError, EnvironmentError.
std::map<std::string, double> measure_device_peaks();

}  // namespace assay::kernels::cuda
