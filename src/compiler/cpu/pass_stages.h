// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stages of a pass: several primitives on a few vectors at a time, from memory to memory.
//
// A primitive that runs by itself over a tile reads its operands from the nearest cache and writes
// its result back there: on vectors of 128 bits that costs more than memory does. Here a *block*,
// eight vectors of 32-bit lanes, goes from stage to stage in registers: it is *in hand*. A stage is
// a function that changes what is in hand and ends in a jump to the next stage, so that nothing is
// written but what a later stage reads again (into a *cell*, a block that stays where it is) and
// what leaves the pass. Eight are as many as both ABIs pass in registers; with four, additions of
// bf16 in the nearest cache took a sixth longer (Xeon, AVX-512).
//
// In hand, f32, f16 and bf16 are f32, rounded to their own dtype after every primitive; i32 is
// itself, and bool is 0 or 1 of 32 bits. Cells hold the same lanes.

#include <cstddef>
#include <cstdint>

#include "compiler/graph/graph.h"

namespace assay::compiler {

// How a block lies in memory.
enum class BlockFormat : std::uint8_t {
  kLanes,        // 32 bits each: f32, i32, and cells
  kBFloat,       // bf16
  kBFloatPairs,  // bf16 too; in hand as vectors of even ones and of odd ones: half the work
  kHalf,         // f16
  kBool,
};

// A function of the instruction set that found it; its signature is nobody else's business.
using StageFunction = void (*)();

struct PassStage {
  StageFunction run = nullptr;
  // Of memory operands: which of the pass's pointers, and how many bytes apart elements are (of a
  // cell 0: it serves every block).
  std::uint32_t pointer[2] = {0, 0};
  std::int32_t step[2] = {0, 0};
};

struct PassStages {
  std::int64_t block;  // elements
  bool has_pairs;      // kBFloatPairs exists

  // Takes a block in hand, or writes what is in hand. `streamed`: past the caches, where it is
  // aligned to vectors; others see it after flush(). bf16 and f16 in hand are rounded already.
  StageFunction (*load)(BlockFormat from);
  StageFunction (*store)(BlockFormat to, bool streamed);
  // Asks for what one or two pointers come to some blocks later.
  StageFunction prefetch[2];
  // In hand becomes op(in hand, memory), rounded to `dtype`, the operands'; `turned`: op(memory, in
  // hand), for the sake of kLess and of kMax's zeros. Unary ones have no memory operand. kSelect:
  // in hand is the condition, memory (kLanes) both others. Null where there is none.
  StageFunction (*op)(Op op, DType dtype, BlockFormat memory, bool turned);
  // A cast of what is in hand; null where there is none, or where it changes nothing.
  StageFunction (*cast)(DType from, DType to);
  // The last of a pass.
  StageFunction end;

  // All stages, to one that ends, on each of `blocks` whole blocks.
  void (*run)(const PassStage* first, std::byte* const* pointers, std::int64_t blocks);
  void (*flush)();
};
const PassStages& pass_stages();

}  // namespace assay::compiler
