// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "lab/show/figures/baseline_ratio.h"
#include "lab/show/figures/compose.h"

namespace assay::lab {

std::vector<FigureRecipe> standard_recipes(std::span<const Row* const> rows) {
  std::map<std::string, std::set<Json>> values;  // of each parameter
  std::map<std::string, std::size_t> given;      // by so many rows
  for (const Row* row : rows) {
    for (const auto& [key, value] : row->point.items()) values[key].insert(value), ++given[key];
  }
  std::string size;
  std::vector<std::string> varying;
  for (const auto& [key, seen] : values) {
    const bool differs = seen.size() >= 2;
    if (key == "seed" || (!differs && given[key] == rows.size())) continue;
    varying.push_back(key);
    const bool numbers =
        differs && std::ranges::all_of(seen, [](const Json& v) { return v.is_number(); });
    if (numbers && (size.empty() || seen.size() > values[size].size())) size = key;
  }
  const auto points = varying;
  FigureRecipe common;
  common.x = varying;
  if (size.empty()) {
    common.form = FigureForm::kBars;
    if (common.x.empty()) common.x = {"provider"};
  } else {
    common.x = {size};
    common.log_x = true;
    std::erase(varying, size);
    common.pages = varying;
  }
  std::vector<FigureRecipe> out(3, common);
  out[0].name = "value";
  out[0].title = "each way of computing it";
  out[0].log_y = true;
  out[1].name = "ratio";
  out[1].title = "ratio to the baseline (below 1 is faster)";
  out[1].y = kRatioQuantity;
  out[1].y_label = "time over the baseline's";
  out[1].log_y = true;
  out[2].name = "limit";
  out[2].title = "fraction of this machine's measured limit";
  out[2].y = "fraction_of_limit";
  const auto has_energy = [](const Row* row) { return row->metrics.contains("energy"); };
  if (std::ranges::any_of(rows, has_energy)) {
    out.push_back({.name = "energy",
                   .title = "time against energy, each attempt (left and below is better)",
                   .form = FigureForm::kScatter,
                   .x = {"steady_time"},
                   .x_label = "one call (s)",
                   .y = "energy",
                   .y_label = "energy of one call (J)",
                   .pages = points,
                   .log_x = true,
                   .log_y = true});
  }
  return out;
}

}  // namespace assay::lab
