// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "tensor/roundoff.h"

namespace assay::cases::llm {

// How far a right answer may lie from the oracle: |out − ref| ≤ atol + rtol·|ref|, and the root
// mean square of out − ref, where it is not 0.
struct Tolerance {
  double rtol, atol, rms = 0;
};

// Below it there is no relative accuracy: the smallest normal number; of f16, whose range answers
// do reach, the smallest of all.
inline double smallest_number(DType dtype) { return dtype == DType::kF16 ? 0x1p-24 : 0x1p-126; }
// Relative error of a sum of k positive terms in f32: √k roundings at random, six deviations, and
// a few units for what makes the terms.
inline double f32_sum(std::int64_t k) {
  return 0x1p-24 * (8 * std::sqrt(static_cast<double>(k)) + 16);
}

}  // namespace assay::cases::llm
