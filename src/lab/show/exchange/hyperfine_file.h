// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Timed commands in the files that hyperfine 1.15 writes, for scripts that read those. What it
// writes is read back by read_hyperfine() (import.h).

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/stats/paired_ratio.h"

namespace assay::lab {

// All runs of one command, in the order they were made. The lists are equally long, and not empty.
struct CommandRuns {
  std::string command;                            // its label, or its text
  std::map<std::string, std::string> parameters;  // of --parameter-scan and --parameter-list
  std::vector<double> seconds, user_s, system_s;
  std::vector<int> exit_codes;
  std::optional<PairedRatio> ratio;  // to the baseline; nothing for that itself
};

// --export-json: means, the median, and every run.
std::string hyperfine_json(std::span<const CommandRuns> commands);
// --export-markdown: its table, and the ratio with its interval as one column more.
std::string hyperfine_markdown(std::span<const CommandRuns> commands);

}  // namespace assay::lab
