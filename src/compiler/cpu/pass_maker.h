// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes passes (pass_stages.h) of the primitives that follow each other in a phase of a region.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "compiler/cpu/tile_maker.h"

namespace assay::compiler {

class RegionTiles::PassMaker {
 public:
  // Takes the worker's memory that passes need from `maker`.
  PassMaker(RegionTiles& tiles, Maker& maker);
  // Replaces primitives that a pass can hold, in every phase.
  void make();

 private:
  using Kind = Instruction::Kind;
  using PlaceKind = Place::Kind;

  bool fits(const Instruction& instruction) const;
  void make_phase(Phase& phase);
  // One pass of `group`, the primitives of which nobody else needs in between.
  Instruction fused(const std::vector<Instruction>& group, Phase& phase);

  // While a pass is made: its values, and how often each is read from memory.
  struct Making {
    Phase& phase;
    const std::vector<Instruction>& group;
    bool is_paired = false;
    bool is_trial = true;                // nothing is made: reads are counted
    std::map<std::uint32_t, int> reads;  // of values that are not in hand, to come
    Pass pass;
    std::optional<std::uint32_t> in_hand;            // a value
    std::map<std::uint32_t, std::uint32_t> same_as;  // casts that change nothing
    std::map<std::uint32_t, std::uint32_t> cells;    // by value
    std::vector<std::uint32_t> free_cells;
  };
  void widen_what_is_read_again(Making& m);
  void make_primitive(Making& m, const Instruction& instruction);
  void finish(Making& m, std::uint32_t value);
  void prefetch(Making& m) const;
  void keep_in_cell(Making& m, std::uint32_t value);
  void take_in_hand(Making& m, std::uint32_t value);
  // A stage with a memory operand.
  struct Operand {
    std::uint32_t place = 0;
    BlockFormat format = BlockFormat::kLanes;
    bool is_cell = false;
  };
  Operand read(Making& m, std::uint32_t value, bool must_be_lanes = false);
  std::uint32_t cell_of_single(Making& m, std::uint32_t value);
  std::uint32_t new_cell();
  BlockFormat format_of(const Making& m, std::uint32_t place) const;
  void add(Making& m, StageFunction run, const Operand* first = nullptr,
           const Operand* second = nullptr, bool is_written = false);

  bool is_made_in(const Making& m, std::uint32_t value) const;
  bool is_read_outside(const std::vector<Instruction>& group, std::uint32_t value) const;

  RegionTiles& t_;
  Maker& maker_;
  const PassStages& stages_;
  std::vector<int> readers_;  // instructions that read each place, in all phases
  std::map<std::uint32_t, std::uint32_t> single_cells_;  // of the phase at hand
};

}  // namespace assay::compiler
