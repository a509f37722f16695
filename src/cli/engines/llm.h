// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of `assay llm`, a file each.

#include "cli/arguments/arguments.h"
#include "models/session/generate.h"
#include "models/session/loaded_model.h"
#include "models/session/sampler.h"

namespace assay::cli {

int init_model(const LlmArguments& arguments);
int generate_tokens(const LlmArguments& arguments);
int chat(const LlmArguments& arguments);
int show_prompt(const LlmArguments& arguments);
int explain_model(const LlmArguments& arguments);
int tokenize(const LlmArguments& arguments);
int train_tokenizer(const LlmArguments& arguments);

// With the program that a search found, where that was typed.
models::Session session_of(const LlmArguments& arguments, const models::LoadedModel& model,
                           const models::GraphLimits& limits);
// What the model's folder says, changed by what was typed.
models::SamplingOptions sampling_of(const LlmArguments& arguments);
// "first token after 7 ms; 11 more at 701 tokens/s; stopped by max-tokens".
std::string pace_of(const models::Generation& said);

}  // namespace assay::cli
