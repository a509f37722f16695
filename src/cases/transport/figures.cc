// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/transport/figures.h"

#include <string>

#include "lab/record/metrics.h"

namespace assay::cases::transport {
namespace {

using lab::FigureForm;
using lab::FigureRecipe;

const std::vector<std::string> kGrid = {"n_theta", "n_zeta", "n_xi"};

// What lanes are asked for: time (where two lines cross, one becomes worth its start), rate,
// memory, how much faster than the baseline, how much of the lanes that is, and all of it as a
// table.
std::vector<FigureRecipe> lane_figures(const std::string& x, const std::string& label,
                                       const std::vector<std::string>& pages) {
  FigureRecipe common;
  common.x = {x};
  common.x_label = label;
  common.pages = pages;
  common.log_x = true;
  const auto figure = [&](const char* name, const char* title, const char* y, const char* y_label) {
    auto f = common;
    f.name = name;
    f.title = title;
    f.y = y;
    f.y_label = y_label;
    return f;
  };
  std::vector<FigureRecipe> all = {
      figure("crossover", "time of a call", "", "time of a call [s]"),
      figure("rate", "cases per second", "case_rate", "cases per second"),
      figure("memory", "peak memory, child processes and ranks included", "peak_rss_steady",
             "peak memory [B]"),
      figure("speedup", "speed-up over one lane", "speedup", "speed-up over the serial scan"),
      figure("efficiency", "parallel efficiency", "efficiency",
             "speed-up over the number of lanes"),
      figure("summary", "every lane", "", "")};
  all[0].log_y = true;
  all[2].log_y = true;
  all[3].ideal = true;
  all[4].marks = {{1, "100 %"}, {0.9, "90 %"}};
  all[4].only = {{"provider", {"serial", "threads", "processes", "mpi"}}};  // of one program
  all[5].form = FigureForm::kTable;
  all[5].columns = {"lanes",     "steady_time",     "cold_time",
                    "case_rate", "speedup",         "efficiency",
                    "crossover", "peak_rss_steady", "difference_from_baseline"};
  return all;
}

}  // namespace

std::vector<FigureRecipe> scan_figures() {
  auto figures = lane_figures("cases", "cases of a scan", kGrid);
  for (auto& f : figures) f.only["layout"] = "ladder";
  figures.push_back({.name = "batches",
                     .title = "192 cases in batches: time",
                     .x = {"batch"},
                     .x_label = "cases handed out at a time",
                     .pages = kGrid,
                     .only = {{"layout", "grid"}},
                     .log_x = true});
  figures.push_back({.name = "batch-memory",
                     .title = "192 cases in batches: memory",
                     .x = {"batch"},
                     .x_label = "cases handed out at a time",
                     .y = "peak_rss_steady",
                     .y_label = "peak memory [B]",
                     .pages = kGrid,
                     .only = {{"layout", "grid"}},
                     .log_x = true});
  figures.push_back({.name = "batch-summary",
                     .title = "192 cases in batches",
                     .form = FigureForm::kTable,
                     .x = {"batch"},
                     .columns = figures[5].columns,
                     .pages = kGrid,
                     .only = {{"layout", "grid"}}});
  return figures;
}

std::vector<FigureRecipe> strong_scaling_figures() {
  auto pages = kGrid;
  pages.push_back("cases");
  auto figures = lane_figures("lanes", "threads, processes or ranks", pages);
  for (auto& f : figures) std::erase(f.columns, "lanes");  // x says it
  return figures;
}

std::vector<FigureRecipe> reuse_figures() {
  auto figures = lane_figures("cases", "cases of a call", kGrid);
  for (auto& f : figures) {
    if (f.y == "speedup") {
      f.ideal = false;
      f.title = "what preparing once is worth, steady calls";
      f.y_label = "speed-up over preparing for every case";
    }
  }
  std::erase_if(figures, [](const FigureRecipe& f) { return f.y == "efficiency"; });
  auto first = figures.front();
  first.name = "first-call";
  first.title = "time of the first call";
  first.y = "cold_time";
  first.y_label = "time of the first call [s]";
  figures.push_back(std::move(first));
  return figures;
}

std::vector<FigureRecipe> workflow_figures() {
  // The stages are up to four decades apart: side by side on a logarithmic axis all can be read,
  // where in one bar the scan would hide the others.
  FigureRecipe stages{.name = "stages",
                      .title = "stages of a call, the first and those after it",
                      .form = FigureForm::kBars,
                      .x = {},
                      .x_label = "stage",
                      .y_label = "time [s]",
                      .pages = kGrid,
                      .log_y = true};
  FigureRecipe table{.name = "summary",
                     .title = "stages of a call",
                     .form = FigureForm::kTable,
                     .x = kGrid,
                     .columns = {"steady_time", "cold_time", "speedup", "peak_rss_steady"}};
  for (const auto& [layer, prefix, whole] : {std::tuple{"repeated", lab::kStage, "steady_time"},
                                             std::tuple{"first", lab::kColdStage, "cold_time"}}) {
    for (const char* stage : {"surface", "prepare", "scan", "database", "integrals", "output"}) {
      stages.parts.push_back({std::string(prefix) + stage, stage, layer});
      table.columns.push_back(stages.parts.back().metric);
    }
    stages.parts.push_back({whole, "whole call", layer});
  }
  return {std::move(stages), std::move(table),
          FigureRecipe{.name = "memory",
                       .title = "peak memory of the repeated calls",
                       .form = FigureForm::kBars,
                       .x = kGrid,
                       .y = "peak_rss_steady",
                       .y_label = "peak memory [B]"}};
}

}  // namespace assay::cases::transport
