// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a plan consists of.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "einsum/labels/layout.h"
#include "einsum/lower/lower.h"

namespace assay::einsum {

// One step: node `result` = the contraction of one or two earlier nodes. Nodes 0 … n−1 are the
// operands; the last step makes the plan's result.
struct Step {
  std::vector<int> operands;
  int result = 0;
  Layout a, b, c;
  Lowered lowered;
  std::string expression;
  std::optional<Kernel> runner_up;
  double runner_up_s = 0;
  bool squeezed = false;  // a faster kernel had no room for its copies
  // Runs once for each combination of parts of the plan's first `depth` slices.
  int depth = 0;
};

// A label that is cut into parts of `chunk`, one after the other, to save memory.
struct Slice {
  Label label = 0;
  std::int64_t chunk = 1, parts = 1;
  bool summed = false;  // not a label of the result: parts add up
};

}  // namespace assay::einsum
