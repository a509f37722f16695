// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Figures as gnuplot programs: text in, text out. Whoever calls runs gnuplot on the text.

#include <string>
#include <vector>

#include "transport/scan/input.h"
#include "transport/solve.h"

namespace assay::transport {

// The panels of a run: |B| and radial drift over the surface, and a summary. Of one case, |B| along
// a field line; of a scan, D11* over ν*, D31 with its sign on a symmetric logarithmic
// axis, and D33 with its share of Spitzer's, every field a curve. `image` ends in .png or .pdf.
std::string panel_script(const RunInput& input, const Prepared& prepared,
                         const std::vector<Solution>& solutions, const std::string& image);

}  // namespace assay::transport
