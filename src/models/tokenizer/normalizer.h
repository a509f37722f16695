// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is done to a text before it is cut into words. Of tokenizer.json's "normalizer": NFC,
// Replace, Prepend, and Sequence of those; others are refused by name.

#include <optional>
#include <string>
#include <vector>

#include "models/config/json_field.h"
#include "models/tokenizer/pattern.h"

namespace assay::models {

class Normalizer {
 public:
  Normalizer() = default;  // leaves a text as it is
  explicit Normalizer(const JsonField& field);

  // Whether apply() would return any text as it is.
  bool is_nothing() const { return steps_.empty(); }
  std::string apply(std::string text, Pattern::Work& work) const;

 private:
  struct Step {
    enum Kind { kNfc, kReplace, kPrepend } kind;
    std::optional<Pattern> pattern;
    std::string content;
  };
  void read(const JsonField& field);

  std::vector<Step> steps_;
};

// Of a Replace, a Split: {"String": …} or {"Regex": …}.
Pattern read_pattern(const JsonField& field);

// The text with every match replaced.
std::string replaced(std::string_view text, const Pattern& pattern, std::string_view content,
                     Pattern::Work& work);

}  // namespace assay::models
