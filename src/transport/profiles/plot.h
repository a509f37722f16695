// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The figure of profiles as a gnuplot program.

#include <string>
#include <vector>

#include "transport/profiles/answer.h"

namespace assay::transport {

// 2×2: particle and heat fluxes of each species, ⟨j·B⟩ with and without momentum conserved, every
// root of J_r (ion, unstable, electron), and the profiles; how many
// warnings there were. `image` ends in .png or .pdf.
std::string profiles_script(const ProfilesInput& input, const std::vector<RadiusAnswer>& answers,
                            std::size_t warnings, const std::string& image);

}  // namespace assay::transport
