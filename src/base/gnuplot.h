// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Pictures through gnuplot, a program that must be installed where they are asked for.

#include <string>
#include <string_view>

namespace assay {

// The printable() text in quotes, so that gnuplot takes it as it is: nothing in it ends the string,
// is run (backticks) or expanded (macros). Whether it is read as markup is decided where it stands
// (`noenhanced`).
std::string gnuplot_quoted(std::string_view text);
// The same where gnuplot would take the text for the format of a number: a tick's label.
std::string gnuplot_tick_label(std::string_view text);

// Runs a gnuplot program; `what` names the picture in errors. Throws EnvironmentError where there
// is no gnuplot, UserError with gnuplot's own words where the program fails.
void run_gnuplot(std::string_view program, std::string_view what);

}  // namespace assay
