// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes instructions of a region's values, in their order (region_tiles.h).

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/cpu/region_phases.h"
#include "compiler/cpu/region_tiles.h"

namespace assay::compiler {

class RegionTiles::Maker {
 public:
  explicit Maker(RegionTiles& tiles);
  void make();

  // Bytes of the worker's memory that are nobody else's.
  std::int64_t take(std::int64_t bytes) {
    const auto at = taken_;
    taken_ += (bytes + 63) / 64 * 64;
    return at;
  }

 private:
  using Kind = Instruction::Kind;
  using PlaceKind = Place::Kind;

  bool needed(std::uint32_t i) const;
  bool is_stored(std::uint32_t i) const;
  std::optional<std::uint32_t> store_in_place(std::uint32_t i) const;

  // A value's place and instructions in this phase.
  void visit(std::uint32_t i);
  void visit_leaf(std::uint32_t i);
  void visit_reduction(std::uint32_t i);
  void visit_op(std::uint32_t i);
  void visit_stores(std::uint32_t i);
  // A value with one element for each of the tile, or of its rows.
  std::uint32_t filled(std::uint32_t i, bool of_row = false, bool of_numbers = false);
  // A place for numbers, and the instruction that computes them.
  void emit_number(const Instruction& instruction, Place& place);
  // Chooses where the result of an instruction goes, and puts it where it runs: once for the rows
  // of a tile where it does not depend on the column.
  void emit(const Instruction& instruction, std::uint32_t i);

  // What an instruction of a tile reads and writes.
  template <class F>
  void for_touched(const Instruction& instruction, const F& f) const;
  void assign_slots();
  void lay_out();
  bool is_touched(const Phase& phase, std::uint32_t place) const;

  RegionTiles& t_;
  const Region& region_;
  const std::int64_t lanes_, largest_;
  const RegionPhases phases_;
  std::uint32_t phase_ = 0;
  std::vector<std::array<std::uint32_t, 4>> is_filled_;  // for tiles, for rows; numbers likewise
  std::vector<std::uint32_t> written_;
  std::int64_t taken_ = 0;
};

}  // namespace assay::compiler
