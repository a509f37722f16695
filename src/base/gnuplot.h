// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Pictures through gnuplot, a program that must be installed where they are asked for.

#include <string>
#include <string_view>

namespace assay {

// The text in single quotes, so that a gnuplot program holds it as it is (between double quotes
// gnuplot would run what stands in backticks). Line breaks are left out. Whether it is read as
// markup is decided where it stands (`noenhanced`).
std::string gnuplot_quoted(std::string_view text);

// Runs a gnuplot program; `what` names the picture in errors. Throws EnvironmentError where there
// is no gnuplot, UserError with gnuplot's own words where the program fails.
void run_gnuplot(std::string_view program, std::string_view what);

}  // namespace assay
