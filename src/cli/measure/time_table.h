// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/measure/time_case.h"
#include "lab/beside/summary.h"
#include "lab/record/row.h"
#include "lab/run/runner.h"
#include "lab/show/exchange/hyperfine_file.h"
#include "lab/show/terminal/grid.h"

namespace assay::cli {

// Commands in the order they were typed, at each point: median with its interval, ratio, verdict,
// processor time, memory, runs; below it what the rounds could have shown, and what a reader should
// know before believing them.
std::string time_table(const TimedCase& timed, std::span<const lab::Row> rows,
                       std::span<const lab::Summary> summaries, const lab::TableStyle& style);

// The summaries as JSON (lab::summary_json), each with its verdict, and without a ratio where
// nothing is left of a command but its shell (is_shell_alone).
Json time_json(const TimedCase& timed, const lab::RunResult& result,
               std::span<const lab::Summary> summaries);

// Every command's runs, for hyperfine's files.
std::vector<lab::CommandRuns> command_runs(const TimedCase& timed, std::span<const lab::Row> rows,
                                           std::span<const lab::Summary> summaries);

}  // namespace assay::cli
