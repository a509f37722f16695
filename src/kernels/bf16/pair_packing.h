// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Panels of pairs (pair_units.h) of bf16 factors with any strides.

#include <cstdint>

#include "kernels/bf16/pair_units.h"

namespace assay::kernels {

// A slice of a factor: element l of row or column i, of `count` that there are, is
// data[i · width_stride + l · term_stride], for l < elements.
struct Bf16Source {
  const std::uint16_t* data;
  std::int64_t width_stride, term_stride, elements;
  int count;
};

// The panel of it, `width` wide, `terms` pairs long (the elements' and what is missing to a whole
// step): pair (i, l) where the layout with that group has it, 0 beyond what there is. Whether an
// element is below the least normal number and not 0: then it takes multiply_pairs(…, exactly).
bool pack_pairs(const Bf16Source& x, int width, std::int64_t group, std::int64_t terms,
                Bf16Pair* panel) noexcept;

}  // namespace assay::kernels
