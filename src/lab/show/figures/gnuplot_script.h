// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lab/show/figures/figure.h"

namespace assay::lab {

enum class ImageFormat { kPng, kPdf, kSvg };

// The gnuplot program that draws a figure into the file `image`. The same figure gives the same
// text. It says where the numbers are from: once where all are from one origin, else in the name of
// each series. Colours can be told apart by people who see fewer of them, and no series is told by
// its colour alone.
std::string gnuplot_script(const Figure& figure, ImageFormat format, const std::string& image);

}  // namespace assay::lab
