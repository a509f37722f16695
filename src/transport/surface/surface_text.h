// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Surfaces from text files.

#include <string>
#include <string_view>

#include "transport/surface/surface.h"

namespace assay::transport {

// The `&datain` namelist of DKES: nzperiod, psip, chip, btheta, bzeta and borbi(n,m) (the toroidal
// index first), inside or after the namelist; other names ignored. As Fortran reads it: comments,
// repeats, D exponents, "borbi(0,0) = a, b" fills borbi(0,0) and borbi(1,0), the last value wins.
// ι = −chip/psip, B0 = borbi(0,0). `name` stands for the file in errors. Throws UserError.
Surface parse_dkes(std::string_view text, std::string name);
Surface read_dkes(const std::string& path);

// MONKES' magnetic_configuration.dat: lines "Number of periods", "psi_p", "chi_p", "iota", "B00",
// "B_theta", "B_zeta" with a value after the label (":" or "=" between them or nothing), then rows
// "m n B_mn" or "m n B_mn B_mn/B00". Other labels and headings are passed over. iota may be left
// out where psi_p and chi_p are given, B00 where there is a row 0 0; what is said twice must agree.
// Throws UserError naming file and line.
Surface parse_surface_text(std::string_view text, std::string name);
Surface read_surface_text(const std::string& path);

}  // namespace assay::transport
