// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Theory beside simulation, stage by stage, and what a topology amounts to: what `assay chip
// explain` and `assay chip topology check` print.

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "chip/collective.h"
#include "chip/simulate.h"

namespace assay::chip {

struct StageExplanation {
  Stage stage = Stage::kDmaIn;
  Time per_tile = 0;   // closed form: one full tile, alone
  Time work = 0;       // closed form: all tiles of all processing elements
  Time simulated = 0;  // busy, over all slots
  Time blocked = 0, starved = 0;
  bool bottleneck = false;  // the longest per step (outputs: per K_t steps)
};

struct GemmExplanation {
  GemmResult result;
  std::vector<StageExplanation> stages;
  std::string formula;  // the closed form with its numbers
  Time residual = 0;    // simulated - closed form
};

// A run in a few lines.
std::string to_text(const GemmResult& result);

GemmExplanation explain_gemm(const GemmOptions& options, const Topology& topology);
std::string to_text(const GemmExplanation& explanation);  // a table of a few lines
Json to_json(const GemmExplanation& explanation);

// The collective's time beside the cost of its schedule and the bound.
std::string to_text(const CollectiveResult& result);

// What a topology file amounts to: identity, peak rates, stage times, sizes.
Json describe(const Topology& topology);
std::string describe_text(const Topology& topology);

}  // namespace assay::chip
