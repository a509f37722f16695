// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lab/show/figures/figure.h"
#include "lab/show/figures/gnuplot_script.h"

namespace assay::lab {

// "png", "pdf", "svg"; throws UserError for anything else.
ImageFormat image_format(const std::string& name);

// Writes NAME.json and NAME.png, … of a figure (of a table NAME.md in place of pictures) into a
// folder that exists, each file whole or not at all, and returns their paths. The same figure gives
// the same bytes: the date inside a PDF is that of the newest row. Needs gnuplot.
std::vector<std::string> render(const Figure& figure, const std::vector<ImageFormat>& formats,
                                const std::string& folder);

}  // namespace assay::lab
