// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a case wants to see of its rows, in words: which quantity over which, a line for what, a
// figure for what. lab/show/figures draws it.
//
// A quantity is named as it stands in the rows: a parameter of the point ("n"), "provider", a
// metric ("steady_time"), or "intensity", the case's flops per byte. As y or in a column also:
// "ratio", the primary metric over the baseline's in the same round; "speedup", its inverse;
// "efficiency", that over the metric "lanes".

#include <string>
#include <vector>

#include "base/json.h"

namespace assay::lab {

enum class FigureForm {
  kLines,    // y over x, a line for each series
  kScatter,  // the same, not joined: neighbours may be of different kinds
  kBars,     // y by category, a bar for each series
  kStacked,  // parts of a whole by category
  kAgainst,  // the value of each series against that of the provider `reference` at the same point,
             // with the relative difference below
  kTable,    // no picture: a line for each series and x, with `columns`
};

// A line across a figure at a value of y that means something.
struct FigureMark {
  double y = 0;
  std::string label;
};

// Two limits at once: y is at most `peak`, and at most `slope` times x.
struct FigureRoof {
  double peak = 0, slope = 0;
  std::string label;
};

// One layer of a stacked bar, or one of the bars side by side: a metric, the category it stands at
// (empty: that of x; of a stacked bar, where x is given as well, there is a bar for each pair) and
// the layer's name.
struct FigurePart {
  std::string metric, category, layer;
};

struct FigureRecipe {
  std::string name;   // stem of the file names, after the case's: "stages"
  std::string title;  // in words
  FigureForm form = FigureForm::kLines;
  std::vector<std::string> x;  // several are joined to a category
  std::string x_label = {};    // with its unit; empty: the names in x
  std::string y = {};          // a metric; empty: the case's primary metric
  std::string y_label = {};    // empty: the metric's name and unit
  // Instead of y, for kStacked; for kBars too, with a category each: every series has then a bar
  // for each layer, in shades of one colour.
  std::vector<FigurePart> parts = {};
  // Instead of y, for kTable; "crossover" is the x from which on a series is faster than the
  // baseline.
  std::vector<std::string> columns = {};
  std::vector<FigureMark> marks = {};  // kLines
  std::vector<FigureRoof> roofs = {};  // kLines, kScatter; x is a number
  bool ideal = false;                  // y = "speedup": also the speed-up that equals the lanes
  std::vector<std::string> series = {"provider"};
  std::vector<std::string> pages = {};  // a figure for each combination of their values
  // Rows that take part: quantity → the value, or the list of values, that it must have.
  Json only = Json::object();
  std::string reference = {};  // for kAgainst
  bool log_x = false, log_y = false;
};

}  // namespace assay::lab
