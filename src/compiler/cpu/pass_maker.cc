// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/pass_maker.h"

#include <algorithm>

#include "base/error.h"

namespace assay::compiler {
namespace {

bool has_lanes(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kBF16 || dtype == DType::kF16 ||
         dtype == DType::kI32 || dtype == DType::kBool;
}

// Whether a cast leaves what is in hand as it is.
bool is_same_in_hand(DType from, DType to) {
  if (from == to) return true;
  if (to == DType::kF32) return from == DType::kBF16 || from == DType::kF16;
  return from == DType::kBool && to == DType::kI32;
}

}  // namespace

RegionTiles::PassMaker::PassMaker(RegionTiles& tiles, Maker& maker)
    : t_(tiles), maker_(maker), stages_(*tiles.stages_), readers_(tiles.places_.size()) {
  for (const auto& phase : t_.phases_) {
    for (const auto* instructions : {&phase.of_rows, &phase.of_tiles}) {
      for (const auto& instruction : *instructions)
        for (int o = 0; o < instruction.operand_count; ++o) ++readers_[instruction.from[o]];
    }
  }
}

void RegionTiles::PassMaker::make() {
  t_.passes_.clear();
  t_.has_streams_ = false;
  for (auto& phase : t_.phases_) make_phase(phase);
}

bool RegionTiles::PassMaker::fits(const Instruction& instruction) const {
  if (instruction.kind != Kind::kOp) return false;
  const auto& value = t_.region_.values[instruction.to];
  if (!has_lanes(value.dtype)) return false;
  const DType from = t_.places_[instruction.from[0]].dtype;
  if (value.op == Op::kCast)
    return is_same_in_hand(from, value.dtype) || stages_.cast(from, value.dtype) != nullptr;
  return stages_.op(value.op, from, BlockFormat::kLanes, false) != nullptr;
}

// Primitives are gathered as long as nothing else needs what they make, but to store or reduce it;
// what does not depend on them goes before.
void RegionTiles::PassMaker::make_phase(Phase& phase) {
  single_cells_.clear();
  std::vector<Instruction> made, group, behind;
  const auto flush = [&] {
    if (!group.empty()) made.push_back(fused(group, phase));
    made.insert(made.end(), behind.begin(), behind.end());
    group.clear();
    behind.clear();
  };
  const auto depends = [&](const Instruction& instruction) {
    return std::ranges::any_of(group, [&](const Instruction& g) {
      const auto* end = instruction.from + instruction.operand_count;
      return std::find(instruction.from, end, g.to) != end;
    });
  };
  for (const auto& instruction : phase.of_tiles) {
    if (fits(instruction)) {
      group.push_back(instruction);
    } else if (!depends(instruction)) {
      made.push_back(instruction);
    } else if (instruction.kind == Kind::kStore || instruction.kind == Kind::kReduce) {
      behind.push_back(instruction);
    } else {
      flush();
      made.push_back(instruction);
    }
  }
  flush();
  phase.of_tiles = std::move(made);
}

RegionTiles::Instruction RegionTiles::PassMaker::fused(const std::vector<Instruction>& group,
                                                       Phase& phase) {
  Making m{.phase = phase, .group = group};
  // Pairs, if all that moves is bf16.
  m.is_paired = stages_.has_pairs;
  for (const auto& instruction : group) {
    for (int o = 0; o < instruction.operand_count; ++o) {
      const auto from = instruction.from[o];
      if (!is_made_in(m, from) && !t_.places_[from].is_single)
        m.is_paired &= t_.places_[from].dtype == DType::kBF16;
    }
    const auto& to = t_.places_[instruction.to];
    if (to.kind != PlaceKind::kSlot || is_read_outside(group, instruction.to))
      m.is_paired &= to.dtype == DType::kBF16;
  }
  // Once to know what is read again, and once in earnest.
  for (const auto& instruction : group) make_primitive(m, instruction);
  Making real{.phase = phase,
              .group = group,
              .is_paired = m.is_paired,
              .is_trial = false,
              .reads = m.reads};
  widen_what_is_read_again(real);
  for (const auto& instruction : group) make_primitive(real, instruction);
  add(real, stages_.end);
  if (t_.prefetches_) prefetch(real);
  auto& pass = real.pass;
  const auto count = static_cast<std::int64_t>(pass.pointers.size());
  pass.pointers_at = maker_.take(2 * count * 8);
  pass.rest_at = maker_.take(count * stages_.block * 4);
  t_.passes_.push_back(std::move(pass));
  return {.kind = Kind::kPass, .walked = static_cast<std::uint32_t>(t_.passes_.size() - 1)};
}

// Operands of other formats than lanes, once instead of at each use.
void RegionTiles::PassMaker::widen_what_is_read_again(Making& m) {
  for (const auto& [value, count] : m.reads) {
    if (is_made_in(m, value) || t_.places_[value].is_single || count < 2 ||
        format_of(m, value) == BlockFormat::kLanes)
      continue;
    const Operand from{value, format_of(m, value)};
    add(m, stages_.load(from.format), &from);
    keep_in_cell(m, value);
    m.in_hand = value;
  }
}

void RegionTiles::PassMaker::make_primitive(Making& m, const Instruction& instruction) {
  const auto& value = t_.region_.values[instruction.to];
  const auto source = [&](int o) {
    const auto same = m.same_as.find(instruction.from[o]);
    return same == m.same_as.end() ? instruction.from[o] : same->second;
  };
  const DType from = t_.places_[instruction.from[0]].dtype;
  const auto a = source(0);
  if (value.op == Op::kCast) {
    if (is_same_in_hand(from, value.dtype)) {
      m.same_as[instruction.to] = a;
      const bool is_written = t_.places_[instruction.to].kind != PlaceKind::kSlot ||
                              is_read_outside(m.group, instruction.to);
      if (!is_written) return;
      take_in_hand(m, a);
      return finish(m, instruction.to);
    }
    take_in_hand(m, a);
    add(m, stages_.cast(from, value.dtype));
  } else if (value.op == Op::kSelect) {
    take_in_hand(m, a);
    // Only lanes can be chosen from: others are brought into cells first.
    const Operand yes = read(m, source(1), true), no = read(m, source(2), true);
    add(m, stages_.op(value.op, value.dtype, BlockFormat::kLanes, false), &yes, &no);
  } else if (instruction.operand_count == 1) {
    take_in_hand(m, a);
    add(m, stages_.op(value.op, from, BlockFormat::kLanes, false));
  } else {
    const auto b = source(1);
    const bool turned = m.in_hand == b && m.in_hand != a;
    if (!turned) take_in_hand(m, a);
    const Operand other = read(m, turned ? a : b);
    add(m, stages_.op(value.op, from, other.format, turned), &other);
  }
  m.in_hand = instruction.to;
  finish(m, instruction.to);
}

// Before everything else, since pointers are known last.
void RegionTiles::PassMaker::prefetch(Making& m) const {
  std::vector<PassStage> stages;
  const auto& pointers = m.pass.pointers;
  for (std::uint32_t p = 0; p < pointers.size(); ++p) {
    const auto kind = t_.places_[pointers[p].place].kind;
    const bool is_far = kind == PlaceKind::kOperand || kind == PlaceKind::kGiven;
    if (pointers[p].step == 0 || pointers[p].is_written || !is_far) continue;
    if (stages.empty() || stages.back().run == stages_.prefetch[1]) stages.push_back({});
    auto& stage = stages.back();
    const int o = stage.run == nullptr ? 0 : 1;
    stage.run = stages_.prefetch[o];
    stage.pointer[o] = p;
    stage.step[o] = pointers[p].step;
  }
  m.pass.stages.insert(m.pass.stages.begin(), stages.begin(), stages.end());
}

// What is in hand is `value`: kept for those who read it again, and written where it belongs.
void RegionTiles::PassMaker::finish(Making& m, std::uint32_t value) {
  if (m.is_trial) return;
  if (m.reads.contains(value)) keep_in_cell(m, value);
  const auto& place = t_.places_[value];
  const bool is_read = is_read_outside(m.group, value);
  if (place.kind == PlaceKind::kSlot && !is_read) return;
  const Operand to{value, format_of(m, value)};
  const bool streamed = t_.streams_ && place.kind == PlaceKind::kOperand && !is_read;
  t_.has_streams_ |= streamed;
  add(m, stages_.store(to.format, streamed), &to, nullptr, true);
}

void RegionTiles::PassMaker::keep_in_cell(Making& m, std::uint32_t value) {
  if (m.free_cells.empty()) m.free_cells.push_back(new_cell());
  const auto cell = m.free_cells.back();
  m.free_cells.pop_back();
  m.cells[value] = cell;
  const Operand to{cell, BlockFormat::kLanes, true};
  add(m, stages_.store(to.format, false), &to);
}

void RegionTiles::PassMaker::take_in_hand(Making& m, std::uint32_t value) {
  if (m.in_hand == value) return;
  const Operand from = read(m, value);
  add(m, stages_.load(from.format), &from);
  m.in_hand = value;
}

RegionTiles::PassMaker::Operand RegionTiles::PassMaker::read(Making& m, std::uint32_t value,
                                                             bool must_be_lanes) {
  if (t_.places_[value].is_single) return {cell_of_single(m, value), BlockFormat::kLanes, true};
  if (m.is_trial) {
    m.reads[value] += must_be_lanes ? 2 : 1;
    return {};
  }
  const auto cell = m.cells.find(value);
  if (cell == m.cells.end()) {
    check(!is_made_in(m, value), "a value of a pass that is read again is in a cell");
    return {value, format_of(m, value), false};
  }
  const Operand from{cell->second, BlockFormat::kLanes, true};
  m.reads[value] -= must_be_lanes ? 2 : 1;
  if (m.reads[value] == 0) {
    m.free_cells.push_back(cell->second);
    m.cells.erase(cell);
  }
  return from;
}

std::uint32_t RegionTiles::PassMaker::cell_of_single(Making& m, std::uint32_t value) {
  if (m.is_trial) return 0;
  const auto [known, is_new] = single_cells_.try_emplace(value, 0);
  if (!is_new) return known->second;
  known->second = new_cell();
  m.phase.of_rows.push_back({.kind = Kind::kCell,
                             .of_row = true,
                             .dtype = t_.places_[value].dtype,
                             .to = known->second,
                             .from = {value, 0, 0},
                             .operand_count = 1});
  return known->second;
}

std::uint32_t RegionTiles::PassMaker::new_cell() {
  t_.places_.push_back(
      {.kind = PlaceKind::kFixed, .at = maker_.take(stages_.block * 4), .size = 4});
  return static_cast<std::uint32_t>(t_.places_.size() - 1);
}

BlockFormat RegionTiles::PassMaker::format_of(const Making& m, std::uint32_t place) const {
  switch (t_.places_[place].dtype) {
    case DType::kBF16:
      return m.is_paired ? BlockFormat::kBFloatPairs : BlockFormat::kBFloat;
    case DType::kF16:
      return BlockFormat::kHalf;
    case DType::kBool:
      return BlockFormat::kBool;
    default:
      return BlockFormat::kLanes;
  }
}

void RegionTiles::PassMaker::add(Making& m, StageFunction run, const Operand* first,
                                 const Operand* second, bool is_written) {
  if (m.is_trial) return;
  check(run != nullptr, "a pass has stages for its primitives");
  PassStage stage{.run = run};
  const Operand* operands[] = {first, second};
  for (int o = 0; o < 2 && operands[o] != nullptr; ++o) {
    const auto& operand = *operands[o];
    auto& pointers = m.pass.pointers;
    const auto size = static_cast<std::int32_t>(t_.places_[operand.place].size);
    auto at = std::ranges::find(pointers, operand.place, &Pass::Pointer::place);
    if (at == pointers.end())
      at = pointers.insert(at, {operand.place, operand.is_cell ? 0 : size, is_written});
    stage.pointer[o] = static_cast<std::uint32_t>(at - pointers.begin());
    stage.step[o] = at->step;
  }
  m.pass.stages.push_back(stage);
}

bool RegionTiles::PassMaker::is_made_in(const Making& m, std::uint32_t value) const {
  return std::ranges::find(m.group, value, &Instruction::to) != m.group.end();
}

bool RegionTiles::PassMaker::is_read_outside(const std::vector<Instruction>& group,
                                             std::uint32_t value) const {
  auto readers = readers_[value];
  for (const auto& instruction : group) {
    for (int o = 0; o < instruction.operand_count; ++o) readers -= instruction.from[o] == value;
  }
  return readers > 0;
}

}  // namespace assay::compiler
