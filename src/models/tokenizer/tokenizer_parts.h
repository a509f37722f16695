// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "models/tokenizer/added_tokens.h"
#include "models/tokenizer/bpe.h"
#include "models/tokenizer/decoder.h"
#include "models/tokenizer/normalizer.h"
#include "models/tokenizer/pre_tokenizer.h"
#include "models/tokenizer/template.h"

namespace assay::models {

// What a tokenizer.json says, read and checked.
struct TokenizerParts {
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  Bpe bpe;
  AddedTokenFinder raw, normalized;  // in the text as it is, and in the normalised one
  Template around;
  std::vector<DecoderStep> decoder;

  struct Added {
    std::string decoded;  // what the decoder gets to see
    bool skipped;         // with special tokens
    bool special;
  };
  std::unordered_map<TokenId, Added> added;
  std::unordered_map<std::string, TokenId> added_ids;
  std::size_t id_limit = 0;
};

// Throws UserError that names `what`, the field and what is wrong with it.
TokenizerParts read_tokenizer_parts(std::string_view json, const std::string& what);

}  // namespace assay::models
