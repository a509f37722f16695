// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where models run. `assay` and `assay-llm-cuda` have one `generate`, `chat` and `explain`, but for
// this: the first computes on the processor (llm_no_device.cc) and becomes the second where a GPU
// is asked for, so that a run on the CPU never loads CUDA.

#include <optional>

#include "cli/arguments/arguments.h"
#include "compiler/run/executor.h"
#include "compiler/show/show_program.h"

namespace assay::cli {

compiler::Runtime llm_runtime(const LlmArguments& arguments);
// What it reaches, for predictions, where that is measured in a second or two.
std::optional<compiler::MachineLimits> llm_limits(const LlmArguments& arguments);

}  // namespace assay::cli
