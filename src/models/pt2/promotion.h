// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which dtype an operation computes in, as torch has it: tensors with axes come first, then those
// without, then numbers of Python; of those that come later only a higher kind (bool, integer,
// floating point) counts.

#include <span>

#include "tensor/dtype.h"

namespace assay::models::pt2 {

DType promoted(DType a, DType b);

enum class Rank : std::uint8_t { kAxes, kNoAxes, kNumber };
struct Typed {
  DType dtype = DType::kF32;
  Rank rank = Rank::kAxes;
};
DType result_type(std::span<const Typed> operands);

}  // namespace assay::models::pt2
