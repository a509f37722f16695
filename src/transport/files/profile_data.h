// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A database as tables of coefficients, and answers as named arrays.

#include <string>
#include <vector>

#include "transport/files/data_file.h"
#include "transport/profiles/answer.h"

namespace assay::transport {

// The surfaces of a database (HDF5 or NetCDF; ours, or NTX's): coefficients in the radius r = a_b
// ρ, that is D11·(dr/ds)² and D13, D31·dr/ds. Where there is no D31 it is −D13. `rho` chooses among
// them (to 1e-6), all where it is empty. Throws UserError that names the file: a variable that is
// missing or of another shape, a rho that is not there.
std::vector<CoefficientTable> read_database(const std::string& path,
                                            const std::vector<double>& rho);

// Dimensions: radius, species, root (padded with NaN), force (3).
DataFile profile_data(const ProfilesInput& input, const std::vector<RadiusAnswer>& answers);

}  // namespace assay::transport
