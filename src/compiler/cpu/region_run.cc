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

// A tile's elements line by line: f(first, step, at, count) for `count` of an operand's from
// `first` on, `step` apart, which are the tile's from `at` on.
template <class F>
void RegionTiles::for_lines(const Worker& w, std::uint32_t walked, bool of_row, const F& f) const {
  const Walked& what = walked_[walked];
  const std::int64_t columns = of_row ? 1 : w.columns;
  const std::int64_t first = w.first[walked] + (of_row ? 0 : w.column * what.column);
  if (is_upright_) {
    for (std::int64_t c = 0; c < columns; ++c)
      f(first + c * what.column, what.strides.back(), c * w.rows, w.rows);
    return;
  }
  const auto* steps = row_steps_.data() + walked * tile_rows_;
  for (std::int64_t r = 0; r < w.rows; ++r) f(first + steps[r], what.column, r * columns, columns);
}

void RegionTiles::load_upright(const Instruction& instruction, Worker& w) const noexcept {
  const Walked& walked = walked_[instruction.walked];
  const auto size = static_cast<std::int64_t>(walked.size);
  const std::int64_t along = walked.strides.back();
  const std::byte* data = w.operands[walked.operand] + w.first[instruction.walked] * size;
  std::byte* to = w.at[instruction.to];
  if (instruction.of_row) return move_elements(walked.size, data, along, to, 1, w.rows);
  // Runs are far apart: nobody guesses where the next tile's are.
  const std::int64_t next = w.column + tile_columns_;
  if (prefetches_ && along == 1 && walked.column != 0) {
    constexpr std::int64_t kLineBytes = 64;
    for (std::int64_t c = next; c < std::min(next + tile_columns_, columns_); ++c) {
      const std::byte* run = data + c * walked.column * size;
      for (std::int64_t at = 0; at < w.rows * size; at += kLineBytes) __builtin_prefetch(run + at);
    }
  }
  const MoveAxis axes[] = {{w.columns, walked.column}, {w.rows, along}};
  move_box(walked.size, data + w.column * walked.column * size, w.columns, axes, to);
}

void RegionTiles::store_upright(const Instruction& instruction, Worker& w) const noexcept {
  const Walked& walked = walked_[instruction.walked];
  const auto size = static_cast<std::int64_t>(walked.size);
  const std::byte* from = w.at[instruction.from[0]];
  std::byte* data =
      w.operands[walked.operand] + (w.first[instruction.walked] + w.column * walked.column) * size;
  const std::int64_t along = walked.strides.back();
  if (walked.column == 1)
    return move_grid(walked.size, from, {w.rows, w.columns, 1, w.rows, along}, data);
  if (along == 1)
    return move_grid(walked.size, from, {w.columns, w.rows, w.rows, 1, walked.column}, data);
  for (std::int64_t c = 0; c < w.columns; ++c)
    move_elements(walked.size, from + c * w.rows * size, 1, data + c * walked.column * size, along,
                  w.rows);
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
      if (is_upright_) return load_upright(instruction, w);
      const std::int64_t first = instruction.of_row ? 0 : w.column * walked.column;
      const std::int64_t extent = tile_rows_ > 1 ? w.rows / inner_rows_ : w.columns;
      return move_box(walked.size,
                      w.operands[walked.operand] + bytes(offset(0) + first, walked.size),
                      tile_rows_ == 1 && instruction.of_row ? 1 : extent, walked.box, to);
    }
    case Kind::kNumber:
      if (place.is_single)
        return number_elements(instruction.dtype, w.first[instruction.walked], 0, to, 1);
      return for_lines(
          w, instruction.walked, instruction.of_row,
          [&](std::int64_t first, std::int64_t step, std::int64_t at, std::int64_t elements) {
            number_elements(instruction.dtype, first, step, to + bytes(at, walked.size), elements);
          });
    case Kind::kGather:
      if (walked.is_gathered)
        return for_lines(
            w, instruction.walked, false,
            [&](std::int64_t first, std::int64_t step, std::int64_t at, std::int64_t elements) {
              gather_line(walked.size, w.operands[walked.operand], gathered_[instruction.walked],
                          first, step, to + bytes(at, walked.size), elements);
            });
      gather_elements(place.size, w.operands[walked.operand], gathered_[instruction.walked],
                      instruction.dtype, from, to, count);
      return;
    case Kind::kFill:
      fill_elements(place.size, from, to, count);
      return;
    case Kind::kSpread:
      if (is_upright_) {
        const MoveAxis repeated[] = {{w.columns, 0}, {w.rows, 1}};
        return move_box(place.size, from, w.columns, repeated, to);
      }
      spread_elements(place.size, from, to, w.rows, w.columns);
      return;
    case Kind::kReduce: {
      const std::size_t size = places_[instruction.from[0]].size;
      if (is_upright_)
        return instruction.reduce.down(from, w.rows, w.columns,
                                       w.reductions + instruction.to * tile_rows_);
      for (std::int64_t r = 0; r < w.rows; ++r)
        instruction.reduce.along(from + bytes(r * w.columns, size), w.columns,
                                 w.reductions[instruction.to * tile_rows_ + r]);
      return;
    }
    case Kind::kStore: {
      if (is_upright_ && !instruction.of_row && !places_[instruction.from[0]].is_single)
        return store_upright(instruction, w);
      std::byte* data = w.operands[walked.operand];
      const bool is_single = places_[instruction.from[0]].is_single;
      return for_lines(
          w, instruction.walked, instruction.of_row,
          [&](std::int64_t first, std::int64_t step, std::int64_t at, std::int64_t elements) {
            move_elements(walked.size, is_single ? from : from + bytes(at, walked.size),
                          is_single ? 0 : 1, data + bytes(first, walked.size), step, elements);
          });
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
          if (place.kind == Place::Kind::kKept)
            w.at[i] = memory + place.at + column * w.rows * size;
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
