// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a language model says, from its files and nothing else: plain layers in f64, no compiler, no
// cache, every token seen at once. Llama (with the scaled rotary embedding of 3.1) and Qwen3.

#include <span>
#include <string>

#include "base/json.h"
#include "cases/llm/oracle/plain_layers.h"

namespace assay::cases::llm {

// config.json of the folder. Throws UserError for families that are not known here.
Json plain_config(const std::string& folder);

// Logits of what follows on each token from number `first` on, one row for each. Takes some hundred
// million products of a second and core. Throws UserError that names a file.
PlainMatrix plain_logits(const std::string& folder, std::span<const std::int64_t> tokens,
                         std::int64_t first);

}  // namespace assay::cases::llm
