// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A region's tiles, shared out among threads.

#include <cstddef>
#include <span>

#include "compiler/cpu/region_tiles.h"

namespace assay::compiler {

// How many of `threads` a block of that many elements is worth.
int region_team(std::int64_t elements, int threads);
// Memory of a team for share_region().
inline std::int64_t region_bytes(const RegionTiles& tiles, int team) {
  return tiles.worker_bytes() * team;
}
// Runs all elements of `block`, in pieces for whoever is free. `memory` as region_bytes() says.
void share_region(const RegionTiles& tiles, const RegionTiles::Block& block,
                  std::span<std::byte* const> operands, const GivenElements& given,
                  std::byte* memory, int team);

}  // namespace assay::compiler
