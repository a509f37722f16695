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

// Time of each provider over the number of cases (where two lines cross, one becomes worth its
// start), the rate that this is, and the ratio to the baseline.
std::vector<FigureRecipe> figures_over(const std::string& x, const std::string& label,
                                       const std::vector<std::string>& pages) {
  return {{.name = "crossover",
           .title = "time of a call",
           .x = {x},
           .x_label = label,
           .pages = pages,
           .log_x = true,
           .log_y = true},
          {.name = "rate",
           .title = "cases per second",
           .x = {x},
           .x_label = label,
           .y = "case_rate",
           .y_label = "cases per second",
           .pages = pages,
           .log_x = true},
          {.name = "memory",
           .title = "peak memory, child processes and ranks included",
           .x = {x},
           .x_label = label,
           .y = "peak_rss_steady",
           .y_label = "peak memory [B]",
           .pages = pages,
           .log_x = true}};
}

}  // namespace

std::vector<FigureRecipe> scan_figures() {
  auto figures = figures_over("cases", "cases of a scan", kGrid);
  for (auto& f : figures) f.only = {{"layout", "ladder"}};
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
  return figures;
}

std::vector<FigureRecipe> strong_scaling_figures() {
  return figures_over("lanes", "threads, processes or ranks", {});
}

std::vector<FigureRecipe> reuse_figures() { return figures_over("cases", "cases of a call", {}); }

std::vector<FigureRecipe> workflow_figures() {
  std::vector<FigureRecipe> figures;
  for (const auto& [name, title, prefix] :
       {std::tuple{"stages", "stages of a repeated call", lab::kStage},
        std::tuple{"cold-stages", "stages of the first call", lab::kColdStage}}) {
    FigureRecipe f{.name = name, .title = title, .form = FigureForm::kStacked, .x = {"provider"}};
    f.x_label = "provider";
    f.y_label = "time of a call [s]";
    f.pages = kGrid;
    for (const char* stage : {"surface", "prepare", "scan", "database", "integrals", "output"}) {
      f.parts.push_back({std::string(prefix) + stage, "", stage});
    }
    figures.push_back(std::move(f));
  }
  figures.push_back({.name = "memory",
                     .title = "peak memory of the repeated calls",
                     .form = FigureForm::kBars,
                     .x = kGrid,
                     .y = "peak_rss_steady",
                     .y_label = "peak memory [B]"});
  return figures;
}

}  // namespace assay::cases::transport
