// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tables for the terminal: cells in groups, notes below, never wider than the terminal.

#include <string>
#include <vector>

namespace assay::lab {

struct TableStyle {
  int width = 0;             // columns of the terminal; 0: as wide as it gets (a file, a pipe)
  bool colour = false;       // see wants_colour()
  bool worst_first = false;  // within a group: failures, then the largest ratios
  bool all = false;          // also what was not measured: missing here, or left out
};

// Whether to colour what goes to this stream: only a terminal, and not when NO_COLOR is set.
bool wants_colour(bool is_terminal);

// Terminal colours, for the last cell of a row.
inline constexpr const char *kBold = "1", *kFaint = "2", *kRed = "31", *kGreen = "32",
                            *kYellow = "33";

struct GridColumn {
  std::string title;
  bool right_aligned = false;
  int drop = 0;  // leaves first when the smallest; 0: stays
};

struct GridRow {
  std::string group;               // rows of one group follow each other, its name above them
  std::vector<std::string> cells;  // one for each column, printable
  std::string colour = {};
};

struct Grid {
  std::vector<GridColumn> columns;
  std::vector<GridRow> rows;
  std::vector<std::string> notes = {};  // sentences below, printable
};

// The grid as text. Every line ends with a newline and is at most `width` columns wide. Where that
// is too little, columns are left out from the least important on (and a line says which); where
// even the rest does not fit, each row becomes a few lines of its own, headed by its first and its
// last cell. Notes are broken at spaces.
std::string render_grid(const Grid& grid, const TableStyle& style);

}  // namespace assay::lab
