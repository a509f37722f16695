// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A whole folder of a model of known size: weights by chance, and a tokenizer that learned a short
// text of our own, with a chat template.

#include <string>
#include <string_view>
#include <vector>

#include "models/init/write_model.h"

namespace assay::models {

struct SmallTokenizer {
  std::string tokenizer_json, tokenizer_config_json;
  std::int64_t begin = 0;          // of a text
  std::vector<std::int64_t> ends;  // of a text, and of what is said in a conversation
};
// With special tokens as the family has them, all ids below `vocab`. Throws UserError where that is
// too few.
SmallTokenizer small_tokenizer(Family family, std::int64_t vocab);

// As write_model(), with the tokenizer's files. Throws UserError as that and config_of_size() do.
void init_model(Family family, std::string_view size, const std::string& folder,
                const WriteOptions& options);

}  // namespace assay::models
