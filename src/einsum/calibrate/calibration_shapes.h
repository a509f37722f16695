// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a calibration measures: contractions and permutations, each for one part of the time model.
// Of the suite's pairs only the plain and batched products are among them.

#include <cstdint>
#include <string>
#include <vector>

#include "einsum/lower/lower.h"

namespace assay::einsum {

struct CalibrationShape {
  Part part;
  std::string expression;             // of one operand for Part::kPermute, else of two
  std::vector<std::int64_t> extents;  // of the labels in the order in which they appear

  // The operands and the result, without gaps but for capital labels: of those only the first index
  // is used.
  std::vector<Layout> layouts() const;
  std::string text() const;
};

const std::vector<CalibrationShape>& calibration_shapes();

// Of the ways to compute the shape the first that is what its part stands for, without copies; null
// if there is none. Not for Part::kPermute.
const Lowered* measured_way(const CalibrationShape& shape, const std::vector<Lowered>& ways);

}  // namespace assay::einsum
