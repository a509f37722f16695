// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The regular expressions of tokenizer.json, as PyPI's tokenizers (Oniguruma) reads and matches
// them: leftmost, alternatives in their order, quantifiers greedy, lazy (`+?`) or possessive
// (`++`).
//
// There are literals, `.`, `[…]`, \s \d \w and their opposites, \p{category}, groups, (?i:…) around
// ASCII letters, (?>…), and looking ahead. What else Oniguruma has is refused by name: a pattern
// means what it means there, or nothing.
//
// A character costs a few nanoseconds: sets are bitmaps, a set that is repeated is one instruction
// that gives back character by character, and the first byte tells which alternatives can match.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/tokenizer/characters.h"
#include "models/tokenizer/pattern_program.h"

namespace assay::models {

// Where a pattern matched, in bytes.
struct PatternMatch {
  std::size_t begin, end;
};

class Pattern {
 public:
  // Room to go back in, and how much may still be done to a text of so many bytes: steps, and bytes
  // of what becomes of it. Nothing keeps a file from having a pattern that goes back for ever, or
  // replacements that double a text again and again: they end with a UserError.
  struct Work {
    explicit Work(std::size_t text_bytes)
        : steps_left((1 << 24) + 2048 * std::uint64_t{text_bytes}),
          largest_text((1 << 22) + 64 * text_bytes) {}
    std::vector<PatternReturn> returns;
    std::uint64_t steps_left;
    std::size_t largest_text;
  };

  // Throws UserError that names `what` (the field), and what of the pattern is not understood.
  static Pattern from_regex(std::string_view regex, std::string_view what);
  // One that matches this text, which is not empty, and nothing else.
  static Pattern from_literal(std::string_view literal);

  // The first match at or behind `from`, which is a character's beginning. Text is valid UTF-8.
  std::optional<PatternMatch> find(std::string_view text, std::size_t from, Work& work) const;

 private:
  Pattern() = default;

  std::string literal_;  // where it is not empty, there is no program
  PatternProgram program_;
  // For each first byte, which alternatives may match (bit i for the i-th).
  std::array<std::uint64_t, 256> alternatives_of_byte_{};
  bool matches_empty_ = false;
};

// All matches in order, none within another. As tokenizers does, an empty one right behind the one
// before is left out. Use: for (PatternMatches m(pattern, text, work); auto match = m.next();)
class PatternMatches {
 public:
  PatternMatches(const Pattern& pattern, std::string_view text, Pattern::Work& work)
      : pattern_(&pattern), text_(text), work_(&work) {}
  std::optional<PatternMatch> next();

 private:
  const Pattern* pattern_;
  std::string_view text_;
  Pattern::Work* work_;
  std::size_t from_ = 0;
  std::optional<std::size_t> last_end_;
};

}  // namespace assay::models
