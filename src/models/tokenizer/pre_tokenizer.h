// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a text is cut into words. Of tokenizer.json's "pre_tokenizer": Split, Digits, ByteLevel (as
// the last), and Sequence of those; others are refused by name.

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "models/config/json_field.h"
#include "models/tokenizer/pattern.h"

namespace assay::models {

// That of GPT-2, which ByteLevel has built in.
extern const std::string_view kGpt2Words;

// What becomes of a pattern's matches.
enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

class PreTokenizer {
 public:
  PreTokenizer() = default;  // a text is one word
  explicit PreTokenizer(const JsonField& field);

  // Whether words are handed to the model as bytes.
  bool is_byte_level() const { return byte_level_; }

  // Calls `use` for each word, none of them empty, in order.
  using Use = std::function<void(std::string_view word)>;
  void split(std::string_view text, Pattern::Work& work, const Use& use) const;

 private:
  struct Step {
    std::optional<Pattern> pattern;
    SplitBehavior behavior = SplitBehavior::kIsolated;
    bool invert = false;        // what is between matches is the match
    bool prefix_space = false;  // before a text that has none
  };
  void read(const JsonField& field);
  void split_from(std::size_t step, std::string_view text, Pattern::Work& work,
                  const Use& use) const;

  std::vector<Step> steps_;
  bool byte_level_ = false;
};

}  // namespace assay::models
