// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace assay::transport {

// Throws UserError where a NetCDF-3 file (classic, 64-bit offset, CDF-5) is shorter than its header
// says: the library reads zeros from beyond the end. Files of other kinds pass; HDF5 looks itself.
void check_netcdf_length(const std::string& path);

}  // namespace assay::transport
