// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A pattern as instructions of a small machine that goes back where it failed.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/tokenizer/characters.h"

namespace assay::models {

struct PatternInstruction {
  enum Kind : std::uint8_t {
    kSet,        // one character of the set `set`
    kRepeat,     // `least` to `most` characters of the set, as many as there are; gives back one by
                 // one
    kRepeatAll,  // the same, and gives back nothing
    kFork,       // goes on at `target`; where that fails, behind this instruction
    kJump,       // goes on at `target`
    kAhead,      // what follows up to `target` matches here, or (kNotAhead) does not
    kNotAhead,
    kAtomic,  // what follows up to `target` matches here, in the first way it can
    kMatch,   // the end, of the pattern or of one of the last three
  } kind;
  std::uint32_t set = 0;
  std::uint32_t least = 0, most = 0;
  std::uint32_t target = 0;
};
inline constexpr std::uint32_t kUnlimited = 0xffffffff;

struct PatternProgram {
  std::vector<PatternInstruction> instructions;
  std::vector<CharacterTest> sets;
  std::vector<std::uint32_t> alternatives;  // where each begins; at most 64
};

// A place to go back to: an instruction and a position; behind a kRepeat, all from `least` to `at`.
struct PatternReturn {
  std::uint32_t instruction;
  const char* at;
  const char* least;
};

}  // namespace assay::models
