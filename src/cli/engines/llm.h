// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of `assay llm`, a file each.

#include "cli/arguments/arguments.h"

namespace assay::cli {

int init_model(const LlmArguments& arguments);
int generate_tokens(const LlmArguments& arguments);
int explain_model(const LlmArguments& arguments);
int tokenize(const LlmArguments& arguments);
int train_tokenizer(const LlmArguments& arguments);

}  // namespace assay::cli
