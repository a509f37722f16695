// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs by name. A file of configurations says what `assay run` would be told:
//
//   [configs.NAME]
//   cases = ["dense_matmul"]
//   points = [{n = 64}, {n = 128}]
//   settle = "1s"
//
// Each configuration is a run of its own, with a journal of its own and NAME as its label: it is
// continued by --resume like any other, and those after it are begun by their names.

#include <functional>
#include <vector>

#include "base/toml.h"
#include "cli/arguments/arguments.h"

namespace assay::cli {

// What to run of typed.config: the configurations named by typed.cases, in that order, or with
// `all` among them, with --all, or where the file has only one, all of them in alphabetical order.
// Options that were typed go before what the file says. Throws UserError "FILE:LINE: …" for a key
// that is unknown or of another type, and for a name that is not there.
std::vector<RunArguments> configured_runs(const RunArguments& typed);

// The parts of that, for files that say otherwise what to measure (llm_configs.h).
// Keys of how to measure, and by whom.
void read_run_settings(const TomlTable& table, RunArguments& to);
// As configured_runs(), of a file whose configurations are read by `read`.
using ReadConfig = std::function<RunArguments(const TomlTable&)>;
std::vector<RunArguments> runs_of(const TomlTable& file, const RunArguments& typed,
                                  const ReadConfig& read);

}  // namespace assay::cli
