// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "compiler/cpu/region_tiles.h"

namespace assay::compiler {
namespace {

constexpr std::int64_t kLaneBytes = 4;

// An element as a pass has it in hand.
std::uint32_t lane_of(DType dtype, const std::byte* element) {
  const auto as = [&]<typename T>(T value) {
    std::memcpy(&value, element, sizeof value);
    return value;
  };
  switch (dtype) {
    case DType::kBF16:
      return std::bit_cast<std::uint32_t>(static_cast<float>(as(BFloat16())));
    case DType::kF16:
      return std::bit_cast<std::uint32_t>(static_cast<float>(as(Half())));
    case DType::kBool:
      return as(std::uint8_t{});
    default:
      return as(std::uint32_t{});
  }
}

}  // namespace

// A tile that is worked on, and the memory for it.
struct RegionTiles::Worker {
  std::span<std::byte* const> operands;
  std::int64_t rows, columns;  // of the tile
  std::int64_t column;         // its first
  std::byte** at;              // where each value's elements are
  std::int64_t* first;         // [walked]: where the tile's first row is, in elements
  std::int64_t* index;         // of that row, along the outer axes
  TileReduction* reductions;   // [value][row of the tile]
  std::byte* memory;
};

// A tile whose first row is that one.
void RegionTiles::begin(Worker& w, std::int64_t row) const {
  for (std::size_t axis = outer_.size(); axis-- > 0; row /= outer_[axis])
    w.index[axis] = axis == 0 ? row : row % outer_[axis];
  for (std::size_t i = 0; i < walked_.size(); ++i) {
    const Walked& walked = walked_[i];
    if (walked.size == 0) continue;
    w.first[i] = walked.offset;
    for (std::size_t axis = 0; axis < outer_.size(); ++axis)
      w.first[i] += w.index[axis] * walked.strides[axis];
  }
}

void RegionTiles::execute(const Instruction& instruction, Worker& w) const noexcept {
  using Kind = Instruction::Kind;
  const std::byte* from = w.at[instruction.from[0]];
  std::byte* to = w.at[instruction.to];
  const Place& place = places_[instruction.to];
  const std::int64_t count = place.is_single ? 1 : instruction.of_row ? w.rows : w.rows * w.columns;
  const Walked& walked = walked_[instruction.walked];
  const auto offset = [&](std::int64_t r) {
    return w.first[instruction.walked] +
           row_steps_[static_cast<std::size_t>(instruction.walked * tile_rows_ + r)];
  };
  const auto bytes = [](std::int64_t elements, std::size_t size) {
    return elements * static_cast<std::int64_t>(size);
  };
  switch (instruction.kind) {
    case Kind::kOp: {
      const void* in[3] = {from, w.at[instruction.from[1]], w.at[instruction.from[2]]};
      instruction.op(in, to, count);
      return;
    }
    case Kind::kLoad: {
      const std::int64_t first = instruction.of_row ? 0 : w.column * walked.column;
      const std::int64_t extent = tile_rows_ > 1 ? w.rows / inner_rows_ : w.columns;
      return move_box(walked.size,
                      w.operands[walked.operand] + bytes(offset(0) + first, walked.size),
                      tile_rows_ == 1 && instruction.of_row ? 1 : extent, walked.box, to);
    }
    case Kind::kNumber: {
      const std::int64_t columns = instruction.of_row ? 1 : w.columns;
      const std::int64_t first = instruction.of_row ? 0 : w.column * walked.column;
      for (std::int64_t r = 0; r * columns < count; ++r)
        number_elements(instruction.dtype, offset(r) + first, walked.column,
                        to + bytes(r * columns, walked.size), columns);
      return;
    }
    case Kind::kGather:
      if (walked.is_gathered) {
        for (std::int64_t r = 0; r < w.rows; ++r)
          gather_line(walked.size, w.operands[walked.operand], gathered_[instruction.walked],
                      offset(r) + w.column * walked.column, walked.column,
                      to + bytes(r * w.columns, walked.size), w.columns);
        return;
      }
      gather_elements(place.size, w.operands[walked.operand], gathered_[instruction.walked],
                      instruction.dtype, from, to, count);
      return;
    case Kind::kFill:
      fill_elements(place.size, from, to, count);
      return;
    case Kind::kSpread:
      spread_elements(place.size, from, to, w.rows, w.columns);
      return;
    case Kind::kReduce: {
      const std::size_t size = places_[instruction.from[0]].size;
      for (std::int64_t r = 0; r < w.rows; ++r)
        instruction.reduce(from + bytes(r * w.columns, size), w.columns,
                           w.reductions[instruction.to * tile_rows_ + r]);
      return;
    }
    case Kind::kStore: {
      std::byte* data = w.operands[walked.operand];
      const bool is_single = places_[instruction.from[0]].is_single;
      const std::int64_t columns = instruction.of_row ? 1 : w.columns;
      const std::int64_t first = instruction.of_row ? 0 : w.column * walked.column;
      for (std::int64_t r = 0; r < w.rows; ++r)
        move_elements(walked.size, is_single ? from : from + bytes(r * columns, walked.size),
                      is_single ? 0 : 1, data + bytes(offset(r) + first, walked.size),
                      walked.column, columns);
      return;
    }
    case Kind::kCell: {
      const auto lane = lane_of(instruction.dtype, from);
      fill_elements(sizeof lane, reinterpret_cast<const std::byte*>(&lane), to, stages_->block);
      return;
    }
    case Kind::kPass:
      return run_pass(passes_[instruction.walked], w);
  }
}

// Whole blocks where they lie; of what is left a copy, so that nobody's memory is touched.
void RegionTiles::run_pass(const Pass& pass, Worker& w) const noexcept {
  auto** pointers = reinterpret_cast<std::byte**>(w.memory + pass.pointers_at);
  const std::size_t count = pass.pointers.size();
  for (std::size_t p = 0; p < count; ++p) pointers[p] = w.at[pass.pointers[p].place];
  const std::int64_t elements = w.rows * w.columns, blocks = elements / stages_->block;
  stages_->run(pass.stages.data(), pointers, blocks);
  const std::int64_t rest = elements - blocks * stages_->block;
  if (rest == 0) return;
  auto** copies = pointers + count;
  for (std::size_t p = 0; p < count; ++p) {
    const auto& pointer = pass.pointers[p];
    const auto step = static_cast<std::size_t>(pointer.step);
    copies[p] = pointers[p];
    if (step == 0) continue;
    copies[p] =
        w.memory + pass.rest_at + static_cast<std::int64_t>(p) * stages_->block * kLaneBytes;
    pointers[p] += blocks * stages_->block * pointer.step;
    if (pointer.is_written) continue;
    std::memcpy(copies[p], pointers[p], static_cast<std::size_t>(rest) * step);
    std::memset(copies[p] + rest * pointer.step, 0,
                static_cast<std::size_t>(stages_->block - rest) * step);
  }
  stages_->run(pass.stages.data(), copies, 1);
  for (std::size_t p = 0; p < count; ++p) {
    const auto& pointer = pass.pointers[p];
    if (pointer.is_written)
      std::memcpy(pointers[p], copies[p],
                  static_cast<std::size_t>(rest) * static_cast<std::size_t>(pointer.step));
  }
}

void RegionTiles::compute_numbers() {
  std::vector<std::int64_t> firsts(walked_.size() + outer_.size());
  std::vector<std::byte*> at(places_.size());
  Worker w{.operands = {},
           .rows = tile_rows_,
           .columns = tile_columns_,
           .column = 0,
           .at = at.data(),
           .first = firsts.data(),
           .index = firsts.data() + walked_.size(),
           .reductions = nullptr,
           .memory = nullptr};
  place_constants(w);
  if (rows_ > 0) begin(w, 0);
  for (const auto& instruction : numbers_) execute(instruction, w);
}

// What lies in the same place in all tiles; where the rest is, is not known yet.
void RegionTiles::place_constants(Worker& w) const {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    if (place.kind == Place::Kind::kFixed && w.memory != nullptr)
      w.at[i] = w.memory + place.at;
    else if (place.kind == Place::Kind::kNumbers)  // Read only, too.
      w.at[i] = const_cast<std::byte*>(number_bytes_.data()) + place.at;
    else if (place.kind == Place::Kind::kConstant)
      // Nobody writes to a constant.
      w.at[i] = reinterpret_cast<std::byte*>(const_cast<std::uint64_t*>(&region_.values[i].bits));
    else
      w.at[i] = nullptr;
  }
}

void RegionTiles::run(const Block& block, std::span<std::byte* const> operands,
                      const GivenElements& given, std::byte* memory) const noexcept {
  Worker w{.operands = operands,
           .rows = 0,
           .columns = 0,
           .column = 0,
           .at = reinterpret_cast<std::byte**>(memory + pointers_at_),
           .first = reinterpret_cast<std::int64_t*>(memory + firsts_at_),
           .index = reinterpret_cast<std::int64_t*>(memory + firsts_at_) + walked_.size(),
           .reductions = reinterpret_cast<TileReduction*>(memory + reductions_at_),
           .memory = memory};
  place_constants(w);
  const std::int64_t end = block.row + block.rows;
  for (std::int64_t row = block.row; row < end; row += w.rows) {
    w.rows = std::min({tile_rows_, end - row, span_ - row % span_});
    begin(w, row);
    const auto operand_at = [&](const Place& place, std::int64_t column) {
      const Walked& walked = walked_[place.walked];
      const std::int64_t element = w.first[place.walked] + (place.is_single ? 0 : column);
      return operands[walked.operand] + element * static_cast<std::int64_t>(walked.size);
    };
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].kind == Place::Kind::kOperand) w.at[i] = operand_at(places_[i], block.column);
    }
    for (const Phase& phase : phases_) {
      for (const auto& instruction : phase.of_rows) execute(instruction, w);
      for (const auto value : phase.reductions) {
        const auto& reduced = region_.values[value];
        std::fill_n(w.reductions + value * tile_rows_, w.rows,
                    reduction_start(reduced.op, reduced.dtype));
      }
      if (phase.of_tiles.empty()) continue;
      const std::int64_t last = block.column + block.columns;
      for (std::int64_t column = block.column; column < last; column += tile_columns_) {
        w.column = column;
        w.columns = std::min(tile_columns_, last - column);
        for (const auto i : phase.moving) {
          const Place& place = places_[i];
          const auto size = static_cast<std::int64_t>(place.size);
          if (place.kind == Place::Kind::kOperand) {
            w.at[i] = operand_at(place, column);
          }
          if (place.kind == Place::Kind::kKept) w.at[i] = memory + place.at + column * size;
          if (place.kind == Place::Kind::kGiven)  // Read only.
            w.at[i] = const_cast<std::byte*>(given.data) +
                      ((row - block.row) * given.row_stride + column - block.column) * size;
        }
        for (const auto& instruction : phase.of_tiles) execute(instruction, w);
      }
      for (const auto value : phase.reductions) {
        const auto size = static_cast<std::int64_t>(places_[value].size);
        for (std::int64_t r = 0; r < w.rows; ++r)
          store_reduction(w.reductions[value * tile_rows_ + r], region_.values[value].dtype,
                          w.at[value] + r * size);
      }
    }
  }
  if (has_streams_) stages_->flush();
}

}  // namespace assay::compiler
