// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A figure as numbers and words: what is drawn, and nothing about how. Its JSON is written beside
// every picture.

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "lab/record/figure_recipe.h"

namespace assay::lab {

struct FigurePoint {
  double x = 0;  // a number, or the index of a category
  double y = 0;
  std::optional<double> low, high;  // of y, 95 %; nothing: too few attempts for an interval
  int attempts = 1;
};

struct FigureSeries {
  std::string label;
  std::string origin;               // "measured", "simulated", "closed form"
  std::size_t shade = 0;            // above 0: paler, in the colour of the series before it
  std::vector<FigurePoint> points;  // ascending in x
};

// Of kTable: names of quantities, and lines with a value for each.
struct FigureTable {
  std::vector<std::string> columns;
  std::vector<std::vector<Json>> lines;
};

struct Figure {
  std::string name;  // of the files, without extension: safe as a file name
  std::string title, subtitle;
  FigureForm form = FigureForm::kLines;
  std::string x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<std::string> categories;  // of x; empty: x is a number
  // kStacked: layers from the bottom up. kAgainst: x is the reference's value.
  std::vector<FigureSeries> series;
  // kBars: the value that means "no difference", where bars begin; nothing: at the axis.
  std::optional<double> grow_from;
  std::vector<FigureMark> marks;
  std::vector<FigureRoof> roofs;
  std::optional<FigureTable> table;  // of kTable, which has no series
  std::vector<std::string> notes;    // what a reader must know, one sentence each
  std::string newest;                // time of the newest row, ISO 8601; empty: not known
};

Json figure_json(const Figure& figure);

// A metric in words, its unit in brackets: "steady time [s]".
std::string metric_label(std::string_view metric);

}  // namespace assay::lab
