// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/tile_maker.h"

#include <algorithm>

#include "compiler/cpu/pass_maker.h"

namespace assay::compiler {

RegionTiles::Maker::Maker(RegionTiles& tiles)
    : t_(tiles),
      region_(tiles.region_),
      lanes_(tiles.tile_rows_ * tiles.tile_columns_),
      largest_(tiles.largest_),
      phases_(region_),
      is_filled_(region_.values.size()) {}

void RegionTiles::Maker::make() {
  t_.places_.assign(region_.values.size(), {});
  t_.phases_.clear();
  t_.numbers_.clear();
  t_.number_bytes_.clear();
  for (phase_ = 0; phase_ < phases_.count; ++phase_) {
    t_.phases_.emplace_back();
    is_filled_.assign(region_.values.size(), {});
    for (std::uint32_t i = 0; i < region_.values.size(); ++i) {
      visit(i);
      visit_stores(i);
    }
  }
  PassMaker(t_, *this).make();
  assign_slots();
  lay_out();
}

void RegionTiles::Maker::visit(std::uint32_t i) {
  if (!t_.is_used_[i]) return;
  const auto& value = region_.values[i];
  auto& place = t_.places_[i];
  place.dtype = value.dtype;
  place.size = size_of(value.dtype);
  switch (value.op) {
    case Op::kConst:
      place.kind = PlaceKind::kConstant;
      place.is_single = true;
      return;
    case Op::kInput:
      return visit_leaf(i);
    case Op::kIota:
      if (!t_.is_number_[i] && !needed(i)) return;
      place.is_single = t_.walked_[i].is_single;
      return emit({.kind = Kind::kNumber, .dtype = value.dtype, .to = i, .walked = i}, i);
    case Op::kSum:
    case Op::kMaxReduce:
      if (phases_.of[i] != phase_ + 1) return;
      return visit_reduction(i);
    default:
      if (phases_.of[i] == phase_) visit_op(i);
  }
}

bool RegionTiles::Maker::needed(std::uint32_t i) const {
  if (phase_ == 0 && is_stored(i)) return true;
  for (std::size_t u = i + 1; u < region_.values.size(); ++u) {
    const auto& user = region_.values[u];
    const auto phase = phases_.of[u] - (is_reduction(user.op) ? 1 : 0);
    if (phase == phase_ && std::ranges::find(user.values, i) != user.values.end()) return true;
  }
  return false;
}
bool RegionTiles::Maker::is_stored(std::uint32_t i) const {
  return std::ranges::any_of(region_.stores, [&](const auto& s) { return s.value == i; });
}

void RegionTiles::Maker::visit_leaf(std::uint32_t i) {
  auto& place = t_.places_[i];
  const auto& walked = t_.walked_[i];
  if (i == 0 && t_.first_is_given_) {
    place.kind = PlaceKind::kGiven;
  } else if (walked.is_single || (!walked.of_row && walked.is_in_place)) {
    place.kind = PlaceKind::kOperand;
    place.walked = i;
    place.is_single = walked.is_single;
  } else if (needed(i)) {
    emit({.kind = Kind::kLoad, .to = i, .walked = i}, i);
  }
}

void RegionTiles::Maker::visit_reduction(std::uint32_t i) {
  const auto& value = region_.values[i];
  auto in = value.values[0];
  if (t_.places_[in].is_single || region_.values[in].of_row)
    in = filled(in, false, t_.is_number_[in]);
  t_.phases_[phase_].of_tiles.push_back({.kind = Kind::kReduce,
                                         .dtype = value.dtype,
                                         .to = i,
                                         .from = {in, 0, 0},
                                         .operand_count = 1,
                                         .reduce = find_tile_reduce(value.op, value.dtype)});
  t_.phases_[phase_].reductions.push_back(i);
  auto& place = t_.places_[i];
  place.kind = PlaceKind::kFixed;
  place.at = take(t_.tile_rows_ * 8);
  place.is_single = t_.tile_rows_ == 1;
}

void RegionTiles::Maker::visit_op(std::uint32_t i) {
  const auto& value = region_.values[i];
  const auto& operands = value.values;
  Instruction instruction{.of_row = value.of_row, .dtype = value.dtype, .to = i};
  instruction.operand_count = static_cast<int>(operands.size());
  const DType from = region_.values[operands[0]].dtype;
  if (t_.walked_[i].is_gathered) {  // by where it is: there is no index to be computed
    instruction.kind = Kind::kGather;
    instruction.operand_count = 0;
    instruction.dtype = from;
    instruction.walked = i;
    return emit(instruction, i);
  }
  unsigned single = 0;
  bool all_single = true;
  for (std::size_t o = 0; o < operands.size(); ++o) {
    const bool is_one = t_.places_[operands[o]].is_single;
    single |= is_one ? 1u << o : 0u;
    all_single &= is_one;
    instruction.from[o] = operands[o];
  }
  t_.places_[i].is_single = all_single;
  if (all_single) single = 0;
  const auto fill = [&](std::size_t o) {
    instruction.from[o] =
        filled(operands[o], value.of_row, t_.is_number_[i] || t_.is_number_[operands[o]]);
    single &= ~(1u << o);
  };
  for (std::size_t o = 0; o < operands.size() && !all_single; ++o) {
    if (region_.values[operands[o]].of_row && !value.of_row && (single >> o & 1) == 0) fill(o);
  }
  if (value.op == Op::kGather) {
    instruction.kind = Kind::kGather;
    instruction.dtype = from;
    instruction.walked = i;
    return emit(instruction, i);
  }
  // Select's operands 1 and 2 say its dtype, operand 0 is a bool.
  const auto find = [&] { return tile_ops().find(value.op, from, value.dtype, single); };
  instruction.op = find();
  for (std::size_t o = 0; instruction.op == nullptr; ++o) {
    if ((single >> o & 1) == 0) continue;
    fill(o);
    instruction.op = find();
  }
  emit(instruction, i);
}

std::uint32_t RegionTiles::Maker::filled(std::uint32_t i, bool of_row, bool of_numbers) {
  auto& known = is_filled_[i][(of_numbers ? 2 : 0) + (of_row ? 1 : 0)];
  if (known != 0) return known;
  const auto id = static_cast<std::uint32_t>(t_.places_.size());
  const bool is_single = t_.places_[i].is_single;
  t_.places_.push_back({.kind = of_row ? PlaceKind::kFixed : PlaceKind::kSlot,
                        .at = of_row ? take(t_.tile_rows_ * 8) : 0,
                        .dtype = t_.places_[i].dtype,
                        .size = t_.places_[i].size});
  Instruction instruction{.kind = is_single ? Kind::kFill : Kind::kSpread,
                          .of_row = of_row,
                          .to = id,
                          .from = {i, 0, 0},
                          .operand_count = 1};
  auto& phase = t_.phases_[phase_];
  if (of_numbers)
    emit_number(instruction, t_.places_[id]);
  else
    (of_row ? phase.of_rows : phase.of_tiles).push_back(instruction);
  return known = id;
}

void RegionTiles::Maker::emit_number(const Instruction& instruction, Place& place) {
  place.kind = PlaceKind::kNumbers;
  place.at = static_cast<std::int64_t>(t_.number_bytes_.size());
  const auto bytes = static_cast<std::size_t>(lanes_) * place.size;
  t_.number_bytes_.resize(t_.number_bytes_.size() + (bytes + 63) / 64 * 64);
  t_.numbers_.push_back(instruction);
}

void RegionTiles::Maker::emit(const Instruction& instruction, std::uint32_t i) {
  auto& place = t_.places_[i];
  auto& phase = t_.phases_[phase_];
  if (t_.is_number_[i]) {
    auto once = instruction;
    once.of_row = region_.values[i].of_row;
    if (place.kind == PlaceKind::kNone) emit_number(once, place);
    return;
  }
  if (place.is_single || region_.values[i].of_row) {
    if (place.kind == PlaceKind::kNone) {
      place.kind = PlaceKind::kFixed;
      place.at = take(t_.tile_rows_ * 8);
    }
    if (region_.values[i].of_row && t_.tile_rows_ == 1) place.is_single = true;
    auto once = instruction;
    once.of_row = true;
    phase.of_rows.push_back(once);
    return;
  }
  const bool is_recomputed = instruction.kind == Kind::kLoad || instruction.kind == Kind::kNumber;
  const auto direct = is_recomputed ? std::nullopt : store_in_place(i);
  if (direct) {
    place.kind = PlaceKind::kOperand;
    place.walked = *direct;
    written_.push_back(*direct);
  } else if (!is_recomputed && phases_.last_use[i] > phase_) {
    place.kind = PlaceKind::kKept;
    place.at = take(t_.row_elements() * static_cast<std::int64_t>(place.size));
  } else {
    place.kind = PlaceKind::kSlot;
  }
  phase.of_tiles.push_back(instruction);
}

std::optional<std::uint32_t> RegionTiles::Maker::store_in_place(std::uint32_t i) const {
  for (std::size_t s = 0; s < region_.stores.size(); ++s) {
    const auto at = static_cast<std::uint32_t>(region_.values.size() + s);
    if (region_.stores[s].value == i && t_.walked_[at].is_in_place) return at;
  }
  return std::nullopt;
}

void RegionTiles::Maker::visit_stores(std::uint32_t i) {
  if (phases_.of[i] != phase_) return;
  for (std::size_t s = 0; s < region_.stores.size(); ++s) {
    const auto at = static_cast<std::uint32_t>(region_.values.size() + s);
    if (region_.stores[s].value != i || std::ranges::find(written_, at) != written_.end()) continue;
    const bool of_row = region_.values[i].of_row;
    auto& phase = t_.phases_[phase_];
    (of_row ? phase.of_rows : phase.of_tiles)
        .push_back({.kind = Kind::kStore,
                    .of_row = of_row,
                    .from = {i, 0, 0},
                    .operand_count = 1,
                    .walked = at});
  }
}

template <class F>
void RegionTiles::Maker::for_touched(const Instruction& instruction, const F& f) const {
  if (instruction.kind == Kind::kPass) {
    for (const auto& pointer : t_.passes_[instruction.walked].pointers) f(pointer.place);
    return;
  }
  if (instruction.kind != Kind::kStore) f(instruction.to);
  for (int o = 0; o < instruction.operand_count; ++o) f(instruction.from[o]);
}

// Slots of a tile's size, each used again once nobody needs what is in it.
void RegionTiles::Maker::assign_slots() {
  struct Life {
    std::size_t first = 0, last = 0;
  };
  std::vector<Life> lives(t_.places_.size(), {SIZE_MAX, 0});
  std::size_t now = 0;
  const auto touch = [&](std::uint32_t i) {
    if (t_.places_[i].kind != PlaceKind::kSlot) return;
    lives[i].first = std::min(lives[i].first, now);
    lives[i].last = now;
  };
  for (const auto& phase : t_.phases_) {
    for (const auto& instruction : phase.of_tiles) {
      for_touched(instruction, touch);
      ++now;
    }
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < lives.size(); ++i)
    if (lives[i].first != SIZE_MAX) order.push_back(i);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return lives[i].first; });
  std::vector<std::pair<std::int64_t, std::size_t>> slots;  // where, and its last use
  for (const auto i : order) {
    auto free =
        std::ranges::find_if(slots, [&](const auto& s) { return s.second < lives[i].first; });
    if (free == slots.end()) free = slots.insert(slots.end(), {take(lanes_ * largest_), 0});
    free->second = lives[i].last;
    t_.places_[i].kind = PlaceKind::kFixed;
    t_.places_[i].at = free->first;
  }
}

void RegionTiles::Maker::lay_out() {
  for (auto& phase : t_.phases_) {
    for (std::uint32_t i = 0; i < t_.places_.size(); ++i) {
      const auto& place = t_.places_[i];
      const bool moves = place.kind == PlaceKind::kKept || place.kind == PlaceKind::kGiven ||
                         (place.kind == PlaceKind::kOperand && !place.is_single);
      if (moves && is_touched(phase, i)) phase.moving.push_back(i);
    }
  }
  t_.reductions_at_ = take(
      static_cast<std::int64_t>(region_.values.size() * sizeof(TileReduction)) * t_.tile_rows_);
  t_.firsts_at_ = take(static_cast<std::int64_t>(t_.walked_.size() + t_.outer_.size()) * 8);
  t_.pointers_at_ = take(static_cast<std::int64_t>(t_.places_.size()) * 8);
  t_.worker_bytes_ = taken_;
}
bool RegionTiles::Maker::is_touched(const Phase& phase, std::uint32_t place) const {
  bool is_one = false;
  for (const auto& instruction : phase.of_tiles)
    for_touched(instruction, [&](std::uint32_t touched) { is_one |= touched == place; });
  return is_one;
}

}  // namespace assay::compiler
