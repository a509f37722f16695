// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A regular expression as a tree.

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/tokenizer/characters.h"
#include "models/tokenizer/pattern_program.h"

namespace assay::models {

struct PatternNode {
  enum Kind { kSet, kSequence, kChoice, kRepeat, kAhead, kNotAhead, kAtomic } kind;
  std::vector<PatternNode> parts;  // of a kRepeat and the last three: one
  Characters set;                  // of a kSet
  std::uint32_t least = 0, most = 0;
  enum Manner { kGreedy, kLazy, kPossessive } manner = kGreedy;
};

// Throws UserError: "<what>: <what of the pattern> is not supported: '<pattern>'".
PatternNode parse_pattern(std::string_view regex, std::string_view what);

// Whether it may match nothing.
bool matches_empty(const PatternNode& node);
// What its first character can be where it matches any.
Characters first_characters(const PatternNode& node);

}  // namespace assay::models
