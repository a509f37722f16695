// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One of Slurm's commands, and what it answers. Private to lab/cluster.

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"

namespace assay::lab {

// Given up after two minutes, and when `stop` becomes true, unless it was so before: then it is
// about the end of jobs.
ProcessResult slurm_command(const std::vector<std::string>& words,
                            const std::atomic<bool>* stop = nullptr);
bool went_well(const ProcessResult& result);
// What a command that did not says of it, in one line.
std::string complaint(const ProcessResult& result);

// Texts between separators, and lines that are not empty.
std::vector<std::string> fields_of(std::string_view line, char separator);
std::vector<std::string> lines_of(const std::string& text);

}  // namespace assay::lab
