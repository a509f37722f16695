// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Indices that are linear in the position: those of pads and concatenations. What is gathered by
// them is a strided copy with ends, for which no index need be computed.

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/program/program.h"

namespace assay::compiler {

struct AffineIndex {
  std::int64_t offset = 0;
  std::vector<std::int64_t> strides;  // along the region's axes
};

// What an i64 value of the region is, if it is that, and far from where i64 wraps around. `shape`
// is the region's.
std::optional<AffineIndex> affine_index(const Region& region, std::uint32_t value,
                                        const std::vector<std::int64_t>& shape,
                                        const Bindings& symbols);

}  // namespace assay::compiler
