// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Axes of a drawn figure, as lines of a gnuplot program: titles, ranges, ticks and their labels.

#include <string>

#include "lab/show/figures/figure.h"

namespace assay::lab {

// "bus bandwidth" of "bus bandwidth [B/s]": where tick labels carry the unit, the title need not.
std::string axis_title(const std::string& label);

// The x axis: a tick for each category or value where they are few.
std::string x_axis(const Figure& figure);

// The y axis around all values, intervals and marks: from zero, or of decades.
std::string y_axis(const Figure& figure);

// From zero to `high`.
std::string y_axis_from_zero(const std::string& label, double high);

// Axis "x" or "y" of decades, between positive bounds.
std::string log_axis(const char* axis, const std::string& label, double low, double high);

}  // namespace assay::lab
