// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "cli/engines/transport_device.h"

namespace assay::cli {

bool has_device() { return false; }

std::string device_name() { throw InternalError("another program has the device"); }
transport::ScanResult scan_on_device(const transport::Prepared&,
                                     const std::vector<transport::Case>&,
                                     const transport::ScanOptions&) {
  throw InternalError("another program has the device");
}
transport::Solution solve_on_device(const transport::Prepared&, const transport::Case&,
                                    const transport::SolveOptions&) {
  throw InternalError("another program has the device");
}

}  // namespace assay::cli
