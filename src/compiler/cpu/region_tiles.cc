// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/region_tiles.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/error.h"

namespace assay::compiler {
namespace {

// Elements of a tile: six slots of them are 24 KiB.
constexpr std::int64_t kTileBytes = 4096;

bool is_reduction(Op op) { return op == Op::kSum || op == Op::kMaxReduce; }

std::int64_t count_of(const std::vector<Dim>& shape, const Bindings& symbols) {
  std::int64_t count = 1;
  for (const auto& dim : shape) count *= dim.at(symbols);
  return count;
}

// Whether elements `step` apart follow each other through all axes.
bool follows(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides,
             std::int64_t step) {
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] != 1 && strides[axis] != step) return false;
    step *= shape[axis];
  }
  return true;
}

}  // namespace

RegionTiles::RegionTiles(const Region& region, const std::vector<Kernel::Formal>& operands,
                         bool first_is_given)
    : region_(region), formals_(operands), first_is_given_(first_is_given) {
  for (const auto& value : region.values) {
    has_reductions_ |= is_reduction(value.op);
    has_row_values_ |= value.of_row && value.op != Op::kConst;
  }
  for (const auto& store : region.stores) has_row_stores_ |= region.values[store.value].of_row;
}

// Symbols get values; axes along which everything goes on evenly become one.
void RegionTiles::walk(const Bindings& symbols) {
  std::vector<std::int64_t> shape;
  for (const auto& dim : region_.shape) shape.push_back(dim.at(symbols));
  walked_.assign(region_.values.size() + region_.stores.size(), {});
  gathered_.assign(region_.values.size(), {});
  std::vector<std::vector<std::int64_t>*> strides;
  const auto add = [&](Walked& walked, const Access& access, bool of_row, bool is_number) {
    const auto& view = access.view;
    FixedView seen;
    if (is_number) {
      seen.offset = view.offset.at(symbols);
      for (const auto& stride : view.strides) seen.strides.push_back(stride.at(symbols));
    } else {
      const auto& formal = formals_.at(access.operand);
      seen = fixed(view, symbols, count_of(formal.shape, symbols));
      walked.size = size_of(formal.dtype);
    }
    walked.operand = access.operand;
    walked.of_row = of_row;
    walked.offset = seen.offset;
    walked.strides = std::move(seen.strides);
    if (of_row) walked.strides.push_back(0);
    check(walked.strides.size() == shape.size(), "a view has the rank of its region");
    strides.push_back(&walked.strides);
  };
  for (std::size_t i = 0; i < region_.values.size(); ++i) {
    const auto& value = region_.values[i];
    if (value.op == Op::kInput && !(i == 0 && first_is_given_))
      add(walked_[i], value.access, value.of_row, false);
    if (value.op == Op::kIota) {
      add(walked_[i], value.access, value.of_row, true);
      walked_[i].size = size_of(value.dtype);
    }
    if (value.op == Op::kGather) {
      const auto& formal = formals_.at(value.access.operand);
      auto& source = gathered_[i];
      source.view = fixed(value.access.view, symbols, count_of(formal.shape, symbols));
      source.count = source.view.element_count();
      check(source.count > 0, "what is gathered from is not empty");
      source.is_contiguous = follows(source.view.shape, source.view.strides, 1);
      walked_[i].operand = value.access.operand;
    }
  }
  for (std::size_t i = 0; i < region_.stores.size(); ++i) {
    const auto& store = region_.stores[i];
    add(walked_[region_.values.size() + i], store.to, region_.values[store.value].of_row, false);
  }

  // Axis by axis from the last: dropped where its extent is 1, joined to the one behind it where
  // all strides allow.
  const bool keeps_last = has_row_values_ || needs_whole_rows() || first_is_given_;
  const auto drop = [&](std::size_t axis) {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    for (auto* s : strides) s->erase(s->begin() + static_cast<std::ptrdiff_t>(axis));
  };
  for (std::size_t axis = shape.size() - (keeps_last ? 1 : 0); axis-- > 0;) {
    if (shape[axis] == 1 && shape.size() > 1) {
      drop(axis);
    } else if (axis + 1 < shape.size() - (keeps_last ? 1 : 0) &&
               std::ranges::all_of(strides, [&](const auto* s) {
                 return (*s)[axis] == (*s)[axis + 1] * shape[axis + 1];
               })) {
      const auto inner = shape[axis + 1];
      for (auto* s : strides) (*s)[axis] = (*s)[axis + 1];
      shape[axis] *= inner;
      drop(axis + 1);
    }
  }
  columns_ = shape.back();
  shape.pop_back();
  outer_ = std::move(shape);
  rows_ = 1;
  for (const auto extent : outer_) rows_ *= extent;
  for (auto& walked : walked_) {
    if (walked.strides.empty()) continue;
    walked.column = walked.strides.back();
    walked.strides.pop_back();
  }

  largest_ = 4;
  for (const auto& value : region_.values)
    largest_ = std::max(largest_, static_cast<std::int64_t>(size_of(value.dtype)));
  const std::int64_t lanes = kTileBytes / largest_;
  tile_columns_ = std::clamp<std::int64_t>(columns_, 1, lanes);
  tile_rows_ = first_is_given_ || columns_ > lanes / 2
                   ? 1
                   : std::clamp<std::int64_t>(rows_, 1, lanes / tile_columns_);
  for (auto& walked : walked_) {
    const bool rows_repeat = std::ranges::all_of(walked.strides, [](auto s) { return s == 0; });
    walked.is_single = walked.column == 0 && (tile_rows_ == 1 || rows_repeat) && walked.size > 0;
    walked.is_in_place = walked.column == 1 &&
                         (tile_rows_ == 1 || follows(outer_, walked.strides, columns_)) &&
                         walked.size > 0;
  }
}

// Makes instructions of the values, in their order.
class RegionTiles::Maker {
 public:
  explicit Maker(RegionTiles& tiles)
      : t_(tiles),
        region_(tiles.region_),
        lanes_(tiles.tile_rows_ * tiles.tile_columns_),
        largest_(tiles.largest_),
        phase_of_(region_.values.size()),
        is_filled_(region_.values.size()) {}

  void make() {
    t_.places_.assign(region_.values.size(), {});
    t_.phases_.clear();
    find_phases();
    for (phase_ = 0; phase_ < phase_count_; ++phase_) {
      t_.phases_.emplace_back();
      is_filled_.assign(region_.values.size(), {});
      for (std::uint32_t i = 0; i < region_.values.size(); ++i) {
        visit(i);
        visit_stores(i);
      }
    }
    assign_slots();
    lay_out();
  }

 private:
  using Kind = Instruction::Kind;
  using PlaceKind = Place::Kind;

  // The phase that a value is computed in; of a reduction: the first in which it is known.
  void find_phases() {
    phase_count_ = 1;
    last_use_.assign(region_.values.size(), 0);
    for (std::size_t i = 0; i < region_.values.size(); ++i) {
      const auto& value = region_.values[i];
      for (const auto v : value.values) phase_of_[i] = std::max(phase_of_[i], phase_of_[v]);
      for (const auto v : value.values) last_use_[v] = std::max(last_use_[v], phase_of_[i]);
      if (is_reduction(value.op)) ++phase_of_[i];
      phase_count_ = std::max(phase_count_, phase_of_[i] + 1);
    }
  }

  // A value's place and instructions in this phase.
  void visit(std::uint32_t i) {
    const auto& value = region_.values[i];
    auto& place = t_.places_[i];
    place.size = size_of(value.dtype);
    switch (value.op) {
      case Op::kConst:
        place.kind = PlaceKind::kConstant;
        place.is_single = true;
        return;
      case Op::kInput:
        return visit_leaf(i);
      case Op::kIota:
        if (!needed(i)) return;
        place.is_single = t_.walked_[i].is_single;
        return emit({.kind = Kind::kNumber, .dtype = value.dtype, .to = i, .walked = i}, i);
      case Op::kSum:
      case Op::kMaxReduce:
        if (phase_of_[i] != phase_ + 1) return;
        return visit_reduction(i);
      default:
        if (phase_of_[i] == phase_) visit_op(i);
    }
  }

  bool needed(std::uint32_t i) const {
    if (phase_ == 0 && is_stored(i)) return true;
    for (std::size_t u = i + 1; u < region_.values.size(); ++u) {
      const auto& user = region_.values[u];
      const auto phase = phase_of_[u] - (is_reduction(user.op) ? 1 : 0);
      if (phase == phase_ && std::ranges::find(user.values, i) != user.values.end()) return true;
    }
    return false;
  }
  bool is_stored(std::uint32_t i) const {
    return std::ranges::any_of(region_.stores, [&](const auto& s) { return s.value == i; });
  }

  void visit_leaf(std::uint32_t i) {
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

  void visit_reduction(std::uint32_t i) {
    const auto& value = region_.values[i];
    auto in = value.values[0];
    if (t_.places_[in].is_single || region_.values[in].of_row) in = filled(in);
    t_.phases_[phase_].of_tiles.push_back(
        {.kind = Kind::kReduce,
         .dtype = value.dtype,
         .to = i,
         .from = {in, 0, 0},
         .operand_count = 1,
         .reduce = tile_ops().find_reduce(value.op, value.dtype)});
    t_.phases_[phase_].reductions.push_back(i);
    auto& place = t_.places_[i];
    place.kind = PlaceKind::kFixed;
    place.at = take(t_.tile_rows_ * 8);
    place.is_single = t_.tile_rows_ == 1;
  }

  void visit_op(std::uint32_t i) {
    const auto& value = region_.values[i];
    const auto& operands = value.values;
    Instruction instruction{.of_row = value.of_row, .dtype = value.dtype, .to = i};
    instruction.operand_count = static_cast<int>(operands.size());
    const DType from = region_.values[operands[0]].dtype;
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
      instruction.from[o] = filled(operands[o], value.of_row);
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

  // A value with one element for each of the tile, or of its rows.
  std::uint32_t filled(std::uint32_t i, bool of_row = false) {
    auto& known = is_filled_[i][of_row ? 1 : 0];
    if (known != 0) return known;
    const auto id = static_cast<std::uint32_t>(t_.places_.size());
    const bool is_single = t_.places_[i].is_single;
    t_.places_.push_back({.kind = of_row ? PlaceKind::kFixed : PlaceKind::kSlot,
                          .at = of_row ? take(t_.tile_rows_ * 8) : 0,
                          .size = t_.places_[i].size});
    Instruction instruction{.kind = is_single ? Kind::kFill : Kind::kSpread,
                            .of_row = of_row,
                            .to = id,
                            .from = {i, 0, 0},
                            .operand_count = 1};
    auto& phase = t_.phases_[phase_];
    (of_row ? phase.of_rows : phase.of_tiles).push_back(instruction);
    return known = id;
  }

  // Chooses where the result of an instruction goes, and puts it where it runs: once for the rows
  // of a tile where it does not depend on the column.
  void emit(const Instruction& instruction, std::uint32_t i) {
    auto& place = t_.places_[i];
    auto& phase = t_.phases_[phase_];
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
    } else if (!is_recomputed && last_use_[i] > phase_) {
      place.kind = PlaceKind::kKept;
      place.at = take(std::max(lanes_, t_.columns_) * static_cast<std::int64_t>(place.size));
    } else {
      place.kind = PlaceKind::kSlot;
    }
    phase.of_tiles.push_back(instruction);
  }

  std::optional<std::uint32_t> store_in_place(std::uint32_t i) const {
    for (std::size_t s = 0; s < region_.stores.size(); ++s) {
      const auto at = static_cast<std::uint32_t>(region_.values.size() + s);
      if (region_.stores[s].value == i && t_.walked_[at].is_in_place) return at;
    }
    return std::nullopt;
  }

  void visit_stores(std::uint32_t i) {
    if (phase_of_[i] != phase_) return;
    for (std::size_t s = 0; s < region_.stores.size(); ++s) {
      const auto at = static_cast<std::uint32_t>(region_.values.size() + s);
      if (region_.stores[s].value != i || std::ranges::find(written_, at) != written_.end())
        continue;
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

  // Bytes of the worker's memory that are nobody else's.
  std::int64_t take(std::int64_t bytes) {
    const auto at = taken_;
    taken_ += (bytes + 63) / 64 * 64;
    return at;
  }
  // Slots of a tile's size, each used again once nobody needs what is in it.
  void assign_slots() {
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
        if (instruction.kind != Kind::kStore) touch(instruction.to);
        for (int o = 0; o < instruction.operand_count; ++o) touch(instruction.from[o]);
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

  void lay_out() {
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
    t_.offsets_at_ = take(static_cast<std::int64_t>(t_.walked_.size()) * t_.tile_rows_ * 8);
    t_.pointers_at_ = take(static_cast<std::int64_t>(t_.places_.size()) * 8);
    t_.worker_bytes_ = taken_;
  }
  static bool is_touched(const Phase& phase, std::uint32_t place) {
    return std::ranges::any_of(phase.of_tiles, [&](const Instruction& instruction) {
      const auto* end = instruction.from + instruction.operand_count;
      return (instruction.kind != Kind::kStore && instruction.to == place) ||
             std::find(instruction.from, end, place) != end;
    });
  }

  RegionTiles& t_;
  const Region& region_;
  const std::int64_t lanes_, largest_;
  std::uint32_t phase_ = 0, phase_count_ = 1;
  std::vector<std::uint32_t> phase_of_, last_use_;
  std::vector<std::array<std::uint32_t, 2>> is_filled_;
  std::vector<std::uint32_t> written_;
  std::int64_t taken_ = 0;
};

void RegionTiles::bind(const Bindings& symbols) {
  walk(symbols);
  if (has_reductions_ && columns_ == 0 && rows_ > 0) {
    for (const auto& value : region_.values)
      check(value.op != Op::kMaxReduce, "the greatest of something is asked for");
  }
  Maker(*this).make();
}

}  // namespace assay::compiler
