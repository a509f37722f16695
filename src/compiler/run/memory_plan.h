// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/program/program.h"

namespace assay::compiler {

// Where temporaries lie in one block of memory: those that are needed at the same time apart, the
// others over one another.
struct MemoryPlan {
  std::vector<std::int64_t> bytes;    // of each buffer
  std::vector<std::int64_t> offsets;  // of temporaries, multiples of 64; −1: not ours, or unused
  std::int64_t arena_bytes = 0;
};

// `gap`: bytes that stay free after each temporary. Throws UserError for symbols without a value.
MemoryPlan plan_memory(const Program& program, const Bindings& symbols, std::int64_t gap = 0);

// What is wrong with a plan, found without how it was made: two temporaries over one another while
// both hold what is still read, or one outside of the arena. Empty: nothing.
std::string mistake_in_plan(const Program& program, const MemoryPlan& plan);

}  // namespace assay::compiler
