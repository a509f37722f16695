// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cpu/region_tiles.h"

#include <algorithm>

#include "base/error.h"
#include "compiler/cpu/region_phases.h"
#include "compiler/cpu/tile_maker.h"

namespace assay::compiler {

RegionTiles::RegionTiles(const Region& region, const std::vector<Kernel::Formal>& operands,
                         bool first_is_given)
    : region_(region), formals_(operands), first_is_given_(first_is_given) {
  for (const auto& value : region.values) {
    has_reductions_ |= is_reduction(value.op);
    has_row_values_ |= value.of_row && value.op != Op::kConst;
  }
  for (const auto& store : region.stores) has_row_stores_ |= region.values[store.value].of_row;
}

void RegionTiles::bind(const Bindings& symbols) {
  walk(symbols);
  if (has_reductions_ && columns_ == 0 && rows_ > 0) {
    for (const auto& value : region_.values)
      check(value.op != Op::kMaxReduce, "the greatest of something is asked for");
  }
  stages_ = &pass_stages();
  choose_tiles();
  Maker(*this).make();
  compute_numbers();
  // A tile that is one pass keeps nothing in the nearest cache (numbers are as long as a tile was
  // when they were computed): it may be long, and is begun less
  // often. Beginning one takes about as long as adding up five hundred bf16 there (Xeon, AVX-512).
  constexpr std::int64_t kPassElements = 8192;
  const auto& first = phases_.front();
  if (phases_.size() == 1 && tile_rows_ == 1 && first.of_tiles.size() == 1 &&
      first.of_tiles[0].kind == Instruction::Kind::kPass && numbers_.empty())
    tile_columns_ = std::clamp<std::int64_t>(columns_, 1, kPassElements);
}

}  // namespace assay::compiler
