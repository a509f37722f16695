// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "lab/view/summary.h"

namespace assay::lab {

struct TableStyle {
  int width = 0;             // columns of the terminal; 0: as wide as it gets (a file, a pipe)
  bool colour = false;       // see wants_colour()
  bool worst_first = false;  // within a group: failures, then the largest ratios
};

// Whether to colour what goes to this stream: only a terminal, and not when NO_COLOR is set.
bool wants_colour(bool is_terminal);

// Summaries as a table for the terminal, one group for each case, point, platform and machine,
// caveats in words below. Every line ends with a newline and is at most `width` columns wide. Where
// that is too little, columns are left out from the least important on (and a line says which);
// where even the rest does not fit, each provider becomes a few lines of its own.
std::string terminal_table(std::span<const Summary> summaries, const TableStyle& style,
                           std::span<const std::string> notes = {});

}  // namespace assay::lab
