// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A region as instructions on tiles that stay in the nearest cache.
//
// A tile is some columns of one row, or several whole rows where rows are short: all along some of
// the inner axes and a part of the next one, so that all tiles are alike. Where operands lie column
// after column, tiles stand upright: some columns of some rows along the last of the outer axes,
// element c of row r at c · rows + r, so that memory is read in runs. Values live in
// slots of a tile's size; operands that lie in memory as a tile does are read where they lie, and
// results written where they belong. Primitives that follow each other make a pass, in which values
// stay in registers (pass_stages.h): slots are for what is left. Reductions cut the work on a row
// into phases: what is needed beyond its phase is kept for the whole row. Values that depend on no
// operand (positions, signs) and are the same in all tiles are computed once, with the
// instructions.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/cpu/pass_stages.h"
#include "compiler/cpu/tile_moves.h"
#include "compiler/cpu/tile_ops.h"
#include "compiler/cpu/tile_reductions.h"
#include "compiler/program/program.h"

namespace assay::compiler {

// Elements of value 0, where it comes from outside: row-major, `row_stride` elements apart.
struct GivenElements {
  const std::byte* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t size = 0;  // bytes of an element

  GivenElements from(std::int64_t row, std::int64_t column) const {
    return {data == nullptr ? nullptr : data + (row * row_stride + column) * size, row_stride,
            size};
  }
};

class RegionTiles {
 public:
  // `first_is_given`: value 0 is an epilogue's. The region and operands outlive it.
  RegionTiles(const Region& region, const std::vector<Kernel::Formal>& operands,
              bool first_is_given);

  // Gives symbols their values, and makes instructions for them. Throws as run_plain() does.
  void bind(const Bindings& symbols);

  // As they are walked: axes that can be one are one.
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t tile_rows() const { return tile_rows_; }
  std::int64_t tile_columns() const { return tile_columns_; }
  bool needs_whole_rows() const { return has_reductions_ || has_row_stores_; }
  // Elements of a tile's rows, in whole tiles.
  std::int64_t row_elements() const;
  // Memory that one thread needs for run(), on a cache line.
  std::int64_t worker_bytes() const { return worker_bytes_; }

  struct Block {
    std::int64_t row, rows, column, columns;
  };
  // Columns are all where whole rows are needed. Given elements begin at the block's first.
  void run(const Block& block, std::span<std::byte* const> operands, const GivenElements& given,
           std::byte* memory) const noexcept;

 private:
  // How a value's or a store's elements are found; strides without the last axis, which is
  // `column`.
  struct Walked {
    std::uint32_t operand = 0;
    std::size_t size = 0;
    std::vector<std::int64_t> strides;
    std::int64_t column = 0, offset = 0;
    // What a tile has of it, as axes; the extent of the first is the tile's.
    std::vector<MoveAxis> box;
    bool is_gathered = false;  // of a gather: index, strides and offset are what is indexed
    bool is_single = false;    // one element for the whole tile
    bool is_in_place = false;  // lies in memory as a tile does
    bool of_row = false;
  };
  // Where a value is while a tile is worked on.
  struct Place {
    enum class Kind : std::uint8_t {
      kNone,
      kConstant,
      kNumbers,
      kFixed,
      kSlot,
      kKept,
      kOperand,
      kGiven
    };
    Kind kind = Kind::kNone;
    std::int64_t at = 0;       // kFixed, kKept: bytes into the worker's memory; kNumbers: of them
    std::uint32_t walked = 0;  // kOperand
    DType dtype = DType::kF32;
    std::size_t size = 0;
    bool is_single = false;
  };
  struct Instruction {
    enum class Kind : std::uint8_t {
      kOp,
      kLoad,
      kNumber,
      kGather,
      kFill,
      kSpread,
      kReduce,
      kStore,
      kCell,  // one element, as a block of a pass
      kPass
    };
    Kind kind = Kind::kOp;
    bool of_row = false;  // one element for each row of the tile
    DType dtype = DType::kF32;
    std::uint32_t to = 0;
    std::uint32_t from[3] = {0, 0, 0};
    int operand_count = 0;
    std::uint32_t walked = 0;  // kPass: which of the passes
    TileOp op = nullptr;
    TileReduce reduce = {};
  };
  struct Phase {
    std::vector<Instruction> of_rows, of_tiles;
    std::vector<std::uint32_t> reductions;  // values that are ready after it
    std::vector<std::uint32_t> moving;      // places that change from tile to tile
  };
  // Primitives in one go: stages, and the places that their pointers are of.
  struct Pass {
    struct Pointer {
      std::uint32_t place = 0;
      std::int32_t step = 0;  // bytes of an element; of a cell 0
      bool is_written = false;
    };
    std::vector<PassStage> stages;
    std::vector<Pointer> pointers;
    // In the worker's memory: pointers, and a block for each of them, for what is no whole block.
    std::int64_t pointers_at = 0, rest_at = 0;
  };
  struct Worker;
  class Maker;
  class PassMaker;

  void walk(const Bindings& symbols);
  void find_used();
  void choose_tiles();
  void choose_tile_shape();
  bool goes_down_columns() const;
  bool stand_upright();
  void find_boxes();
  void find_numbers();
  void compute_numbers();
  void place_constants(Worker& worker) const;
  void begin(Worker& worker, std::int64_t row) const;
  void execute(const Instruction& instruction, Worker& worker) const noexcept;
  template <class F>
  void for_lines(const Worker& worker, std::uint32_t walked, bool of_row, const F& f) const;
  void load_upright(const Instruction& instruction, Worker& worker) const noexcept;
  void store_upright(const Instruction& instruction, Worker& worker) const noexcept;
  void run_pass(const Pass& pass, Worker& worker) const noexcept;

  const Region& region_;
  const std::vector<Kernel::Formal>& formals_;
  const bool first_is_given_;
  bool has_reductions_ = false, has_row_values_ = false, has_row_stores_ = false;

  std::vector<std::int64_t> outer_;  // extents of the axes before the last
  std::int64_t rows_ = 0, columns_ = 0, tile_rows_ = 1, tile_columns_ = 1;
  bool is_upright_ = false;
  // A tile has the axes of outer_ behind `tile_axis_` as a whole, `inner_rows_` in all, and some of
  // that axis, the end of which, after `span_` rows, ends a tile.
  std::size_t tile_axis_ = 0;
  std::int64_t inner_rows_ = 1, span_ = 1;
  std::vector<std::int64_t> row_steps_;  // [walked][row of a tile]: from its first row, in elements
  std::int64_t largest_ = 4;             // bytes of an element
  std::vector<Walked> walked_;           // of values, then of stores
  std::vector<GatherSource> gathered_;   // for each value
  std::vector<bool> is_used_;            // of values: computed at all
  std::vector<bool> is_number_;          // of values: computed once
  std::vector<Instruction> numbers_;
  std::vector<std::byte> number_bytes_;
  std::vector<Place> places_;
  std::vector<Phase> phases_;
  std::vector<Pass> passes_;
  const PassStages* stages_ = nullptr;
  // Stores are so large that they go past the caches; and whether one does.
  bool streams_ = false, has_streams_ = false;
  bool prefetches_ = false;
  std::int64_t worker_bytes_ = 0, reductions_at_ = 0, firsts_at_ = 0, pointers_at_ = 0;
};

}  // namespace assay::compiler
