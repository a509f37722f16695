// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "lab/beside/summary.h"
#include "lab/show/terminal/grid.h"

namespace assay::lab {

// Summaries as a table for the terminal, one group for each case, point, platform and machine,
// caveats in words below; see render_grid(). What was not measured is named in one line for each
// reason, unless there is nothing else or the style asks for all.
std::string terminal_table(std::span<const Summary> summaries, const TableStyle& style,
                           std::span<const std::string> notes = {});

// "semiring_matmul n=64 dtype=f32, cpu, 2 cores, machine 0123…": what a group of rows shares.
std::string group_title(const Place& place);

}  // namespace assay::lab
