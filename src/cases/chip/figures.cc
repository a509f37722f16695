// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/chip/figures.h"

#include <fmt/format.h>

#include "base/units.h"
#include "chip/topology/topology.h"

namespace assay::cases::chip {

using lab::FigureForm;
using lab::FigurePart;
using lab::FigureRecipe;

namespace {

const std::vector<std::string> kShape = {"m", "k", "n"};

// The engines' times. A read that waits for memory waits because memory is busy: that is no
// idleness of the chip, and stands apart from waiting for a buffer.
std::vector<FigurePart> stage_parts() {
  std::vector<FigurePart> parts;
  const char *busy = "busy", *queued = "queued: memory busy", *held = "waits for a buffer",
             *starved = "nothing to do";
  for (const std::string stage : {"dma_in", "fetch", "gemm", "dma_out"}) {
    const bool is_in = stage == "dma_in", is_out = stage == "dma_out";
    parts.push_back({stage + "_busy", stage, busy});
    parts.push_back(
        {is_in ? "dma_in_queued" : stage + "_blocked", stage, is_in || is_out ? queued : held});
    if (is_in) parts.push_back({"dma_in_held", stage, held});
    parts.push_back({stage + "_starved", stage, starved});
  }
  return parts;
}

// Of one processing element of the default chip.
lab::FigureRoof roof() {
  const auto chip = assay::chip::default_topology();
  const double peak = 2 * chip.peak_macs_per_second(), slope = chip.hbm_bytes_per_second();
  return {peak, slope,
          fmt::format("roof: {}, {}", format_rate(peak, "flop/s"), format_rate(slope, "B/s"))};
}

}  // namespace

std::vector<FigureRecipe> gemm_figures() {
  return {{.name = "stages",
           .title = "where each engine's time goes after the up-front load",
           .form = FigureForm::kStacked,
           .x = {"variant"},
           .x_label = "variant: engine",
           .y_label = "share of the window",
           .parts = stage_parts(),
           .pages = kShape,
           .only = {{"provider", "simulated"}, {"pes", 1}}},
          {.name = "use",
           .title = "use of memory, links and SRAM end to end, 512×512×512",
           .form = FigureForm::kBars,
           .x = {},
           .x_label = "resource",
           .y_label = "share of the time, or of the room",
           .parts = {{"hbm_read_use", "HBM reads", "use"},
                     {"hbm_write_use", "HBM writes", "use"},
                     {"channel_use", "busiest channel", "use"},
                     {"link_use", "busiest mesh link", "use"},
                     {"sram_use", "SRAM (room)", "use"}},
           .series = {"variant"},
           .pages = {"pes"},
           .only = {{"provider", "simulated"}, {"m", 512}, {"k", 512}, {"n", 512}}},
          {.name = "utilisation",
           .title = "use of the MAC array after the up-front load, padding marked",
           .form = FigureForm::kStacked,
           .x = kShape,
           .x_label = "M×K×N",
           .y_label = "share of peak",
           .parts = {{"useful_efficiency", "", "useful"}, {"padded_utilisation", "", "padding"}},
           .pages = {"variant"},
           .only = {{"provider", "simulated"}, {"pes", 1}}},
          {.name = "closed-form",
           .title = "closed form against simulation, end to end",
           .form = FigureForm::kAgainst,
           .x = {},
           .x_label = "closed form [s]",
           .y_label = "simulated [s]",
           .series = {"variant", "pes"},
           .only = {{"provider", {"simulated", "closed_form"}}},
           .reference = "closed_form"},
          {.name = "roofline",
           .title = "roofline end to end, one processing element",
           .form = FigureForm::kScatter,
           .x = {"memory_intensity"},
           .x_label = "useful operations for each byte on the busier path of memory [flop/B]",
           .y = "flop_rate",
           .y_label = "useful arithmetic [flop/s]",
           .roofs = {roof()},
           .series = {"provider"},
           .pages = {"variant"},
           .only = {{"provider", {"simulated", "roofline"}}, {"pes", 1}},
           .log_x = true,
           .log_y = true},
          {.name = "scaling",
           .title = "scaling with processing elements, operand loads included",
           .x = {"pes"},
           .x_label = "processing elements",
           .y_label = "end-to-end time [s]",
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
          {.name = "links",
           .title = "use of the busiest link",
           .x = {"bytes"},
           .x_label = "vector [B]",
           .y = "link_use",
           .y_label = "share of the time",
           .series = {"algorithm"},
           .pages = {"network", "ranks"},
           .only = {{"provider", "simulated"}, {"ranks", 8}},
           .log_x = true},
          {.name = "theory",
           .title = "cost of the schedule against simulation",
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
           .title = "time over operand buffers, 512×512×512, loads included",
           .x = {"depth"},
           .x_label = "operand buffers",
           .y_label = "end-to-end time [s]",
           .series = {"provider", "variant"},
           .only = {{"provider", {"simulated", "closed_form"}}}}};
}

}  // namespace assay::cases::chip
