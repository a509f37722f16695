// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The llm suite from a file:
//
//   [suite]
//   models = ["small"]              those that are run when none is named (all)
//   search_budgets = [0, 16, 64]    of models that say none
//   settle = "1s"                   pause before each attempt, and whatever else says how to
//   measure
//
//   [configs.small]
//   family = "qwen3"                or model = "FOLDER"
//   size = "160m"
//   dtype = "bf16"
//   prompt = 128                    so many tokens, drawn; or tokens, [1, 2, 3]; or a text
//   decode_tokens = 16
//   max_context = 512               (four times the prompt, or what the model knows)
//   warmups = 2                     calls before measuring, and batches that are measured
//   iters = 5
//   search_budgets = [0, 16]
//
// and the keys of `assay run --config` that say how to measure, and by whom; what a configuration
// says goes before what the suite does.

#include <vector>

#include "cli/arguments/arguments.h"

namespace assay::cli {

// A run for each configuration: both ways of reading a prompt, decoding, and with `sweep` the
// search over budgets. Throws UserError as configured_runs() does.
std::vector<RunArguments> llm_configured_runs(const RunArguments& typed, bool sweep);

}  // namespace assay::cli
