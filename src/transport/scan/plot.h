// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Figures as gnuplot programs: text in, text out. Whoever calls runs gnuplot on the text.

#include <string>
#include <vector>

#include "transport/scan/input.h"
#include "transport/solve.h"

namespace assay::transport {

// The 2×2 panel of a run: |B| and radial drift over the surface, the coefficients (bars for one
// case, curves over ν̂ for a scan), and a summary. `image` ends in .png or .pdf.
std::string panel_script(const RunInput& input, const Prepared& prepared,
                         const std::vector<Solution>& solutions, const std::string& image);

}  // namespace assay::transport
