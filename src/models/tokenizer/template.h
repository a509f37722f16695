// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Special tokens around a text. Of tokenizer.json's "post_processor": TemplateProcessing, ByteLevel
// (which concerns offsets alone, that nobody asks for here), and Sequence of those; others are
// refused by name.

#include <optional>
#include <vector>

#include "models/config/json_field.h"
#include "models/tokenizer/vocabulary.h"

namespace assay::models {

class Template {
 public:
  Template() = default;  // nothing is added
  // Ids are below `id_limit`, or refused.
  Template(const JsonField& field, std::size_t id_limit);

  std::vector<TokenId> apply(std::vector<TokenId> text, bool add_special_tokens) const;

 private:
  void read(const JsonField& field, std::size_t id_limit);

  using Piece = std::optional<std::vector<TokenId>>;  // special tokens, or (nothing) the text
  std::optional<std::vector<Piece>> pieces_;
};

}  // namespace assay::models
