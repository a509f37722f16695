// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/chip/figures.h"

namespace assay::cases::chip {

using lab::FigureForm;
using lab::FigurePart;
using lab::FigureRecipe;

namespace {

const std::vector<std::string> kShape = {"m", "k", "n"};

std::vector<FigurePart> stage_parts() {
  std::vector<FigurePart> parts;
  for (const std::string stage : {"dma_in", "fetch", "gemm", "dma_out"}) {
    for (const std::string state : {"busy", "blocked", "starved"}) {
      parts.push_back({stage + "_" + state, stage, state});
    }
  }
  return parts;
}

}  // namespace

std::vector<FigureRecipe> gemm_figures() {
  return {{.name = "stages",
           .title = "where each engine's time goes, 512×512×512",
           .form = FigureForm::kStacked,
           .x = {},
           .x_label = "engine",
           .y_label = "share of the window",
           .parts = stage_parts(),
           .pages = {"variant"},
           .only = {{"provider", "simulated"}, {"m", 512}, {"k", 512}, {"n", 512}, {"pes", 1}}},
          {.name = "utilisation",
           .title = "use of the MAC array, padding marked",
           .form = FigureForm::kStacked,
           .x = kShape,
           .x_label = "M×K×N",
           .y_label = "share of peak",
           .parts = {{"useful_efficiency", "", "useful"}, {"padded_utilisation", "", "padding"}},
           .pages = {"variant"},
           .only = {{"provider", "simulated"}, {"pes", 1}}},
          {.name = "closed-form",
           .title = "closed form against simulation",
           .form = FigureForm::kAgainst,
           .x = {},
           .x_label = "closed form [s]",
           .y_label = "simulated [s]",
           .series = {"variant", "pes"},
           .only = {{"provider", {"simulated", "closed_form"}}},
           .reference = "closed_form"},
          {.name = "roofline",
           .title = "roofline, one processing element",
           .form = FigureForm::kScatter,
           .x = {"intensity"},
           .x_label = "arithmetic intensity [flop/B]",
           .y = "flop_rate",
           .y_label = "useful arithmetic [flop/s]",
           .pages = {"variant"},
           .only = {{"provider", {"simulated", "roofline"}}, {"pes", 1}},
           .log_x = true,
           .log_y = true},
          {.name = "scaling",
           .title = "scaling with processing elements",
           .x = {"pes"},
           .x_label = "processing elements",
           .y_label = "simulated time [s]",
           .series = {"provider", "variant"},
           .pages = kShape,
           .only = {{"provider", {"simulated", "closed_form"}}, {"m", {512, 1024}}},
           .log_x = true,
           .log_y = true}};
}

std::vector<FigureRecipe> all_reduce_figures() {
  return {{.name = "busbw",
           .title = "bus bandwidth of all-reduce",
           .x = {"bytes"},
           .x_label = "vector [B]",
           .y = "busbw",
           .y_label = "bus bandwidth [B/s]",
           .series = {"provider", "algorithm"},
           .pages = {"network", "ranks"},
           .only = {{"provider", {"simulated", "smpi", "bound"}}, {"ranks", 8}},
           .log_x = true,
           .log_y = true},
          {.name = "theory",
           .title = "textbook cost against simulation",
           .form = FigureForm::kAgainst,
           .x = {},
           .x_label = "alpha-beta cost [s]",
           .y_label = "simulated [s]",
           .series = {"algorithm"},
           .pages = {"network"},
           .only = {{"provider", {"simulated", "alpha_beta"}}},
           .reference = "alpha_beta"},
          {.name = "ranks",
           .title = "all-reduce of 1 MiB over more chips",
           .x = {"ranks"},
           .x_label = "chips",
           .y_label = "simulated time [s]",
           .series = {"algorithm"},
           .pages = {"network"},
           .only = {{"provider", "simulated"}, {"bytes", 1 << 20}},
           .log_x = true}};
}

std::vector<FigureRecipe> buffer_figures() {
  return {{.name = "knee",
           .title = "time over operand buffers, 512×512×512",
           .x = {"depth"},
           .x_label = "operand buffers",
           .y_label = "simulated time [s]",
           .series = {"provider", "variant"},
           .only = {{"provider", {"simulated", "closed_form"}}}}};
}

}  // namespace assay::cases::chip
