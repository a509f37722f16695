// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reductions cut a region into phases: what depends on one is computed once it is known.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/program/program.h"

namespace assay::compiler {

inline bool is_reduction(Op op) { return op == Op::kSum || op == Op::kMaxReduce; }

struct RegionPhases {
  explicit RegionPhases(const Region& region);

  // Whether a value is needed in a later phase than the one that computes it.
  bool outlives_its_own(std::size_t value) const { return last_use[value] > of[value]; }

  // The phase that each value is computed in; of a reduction: the first in which it is known.
  std::vector<std::uint32_t> of;
  std::vector<std::uint32_t> last_use;
  std::uint32_t count = 1;
};

}  // namespace assay::compiler
