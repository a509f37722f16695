// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// `--device cuda`. The programs `assay-transport` and `assay-transport-cuda` are one, but for this:
// the first knows no device (transport_no_device.cc) and starts the second, so that a run on the
// CPU never loads CUDA.

#include "cli/engines/transport_commands.h"

namespace assay::cli {

inline constexpr bool is_cuda(const std::string& device) { return device == "cuda"; }

// Whether this program can use a GPU.
bool has_device();
// What the GPU is called. Throws EnvironmentError where there is none.
std::string device_name();
// All cases on the GPU, at most options.batch at a time (0: as many as fit). Throws what solve_scan
// throws, and EnvironmentError where the device fails.
transport::ScanResult scan_on_device(const transport::Prepared& prepared,
                                     const std::vector<transport::Case>& cases,
                                     const transport::ScanOptions& options);
// One case, with its modes where the options say so.
transport::Solution solve_on_device(const transport::Prepared& prepared, const transport::Case& at,
                                    const transport::SolveOptions& options);

}  // namespace assay::cli
