// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A matrix product on a chip: the front door of the engine.
//
//   const Topology chip = default_topology();
//   const GemmResult result = simulate_gemm({.shape = {512, 512, 512}}, chip);
//   result.metrics.window.length();   // picoseconds

#include <cstdint>
#include <string>

#include "base/json_fwd.h"
#include "chip/gemm/bounds.h"
#include "chip/gemm/closed_form.h"
#include "chip/gemm/metrics.h"
#include "chip/gemm/tile_plan.h"
#include "chip/kernel/op_log.h"
#include "chip/topology/topology.h"

namespace assay::chip {

// How long the busiest of each kind worked, end to end, and how full the fullest memory is.
struct ChipUse {
  Time channel_read = 0, channel_write = 0;  // of a pseudo-channel of the memory
  Time link = 0;                             // of the mesh
  std::int64_t sram_bytes = 0;               // of a processing element
};

struct GemmResult {
  GemmOptions options;
  Topology topology;
  OpLog log;            // everything below follows from it and from the plan
  GemmMetrics metrics;  // composite window, without the up-front load
  Time end_to_end = 0;  // composite window with it
  ChipUse use;
  ClosedForm closed_form;
  GemmBounds bounds;
  std::int64_t tiles = 0;
  std::int64_t planned_read_bytes = 0, planned_write_bytes = 0;  // up-front loads included
  std::uint64_t events = 0;
};

// Plans, simulates, measures. Throws UserError when the plan does not fit the chip.
GemmResult simulate_gemm(const GemmOptions& options, const Topology& topology);

// The object that `assay chip run --json` prints.
Json to_json(const GemmResult& result);

}  // namespace assay::chip
