// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The time of a tile pipeline as a formula. Derivations: docs/methods/chip.md.
//
// Symbols: n tile steps, stage times t_s, m = max t_s, D operand buffers, K_t K steps per output.

#include <cstdint>
#include <span>
#include <string>

#include "chip/gemm/tile_plan.h"
#include "chip/topology/topology.h"

namespace assay::chip {

// n equal steps through stages in a row: sum t_s + (n - 1) m.
Time pipeline_time(std::span<const Time> stages, std::int64_t n);

// As above with D buffers, each held from the start of the first stage to the end of stage `last`:
// sum t_s + floor((n-1)/D) max(D m, span) + ((n-1) mod D) m, span = the times up to `last`.
Time buffered_pipeline_time(std::span<const Time> stages, std::int64_t n, std::int64_t buffers,
                            std::size_t last);

// Steps through `stages`, and an output every k_steps steps on an engine of its own that takes
// t_out, with room for all waiting outputs: sum t_s + (n-1) m + t_out if t_out <= K_t m, else
// sum t_s + (K_t - 1) m + outputs * t_out.
Time output_pipeline_time(std::span<const Time> stages, std::int64_t k_steps, std::int64_t outputs,
                          Time t_out);

// Stage times of one full tile on an idle chip; `in` is 0 where nothing is streamed.
struct StageTimes {
  Time in = 0, fetch = 0, gemm = 0, out = 0;
};
StageTimes stage_times(const GemmOptions& options, const Topology& topology);

struct ClosedForm {
  Time time = 0;  // composite window, without the up-front load
  Time load = 0;  // of the operands, at the rate of the whole memory
  StageTimes stages;
  std::int64_t steps = 0;  // of the processing element with most of them
  // True where simulation must give `time` to the picosecond; otherwise it is an estimate that
  // leaves out what `why_not_exact` names.
  bool exact = true;
  std::string why_not_exact;
};
ClosedForm closed_form(const GemmPlan& plan, const Topology& topology);

}  // namespace assay::chip
