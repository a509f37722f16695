// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// From an order of contractions to steps: layouts of the intermediates, kernels, memory.

#include <optional>
#include <span>
#include <vector>

#include "einsum/kernels/time_model.h"
#include "einsum/labels/network.h"
#include "einsum/labels/notation.h"
#include "einsum/plan/step.h"

namespace assay::einsum {

struct StepsInput {
  const Problem* problem = nullptr;
  std::vector<std::int64_t> extents;  // of the labels, as one slice sees them
  std::vector<Layout> operands;       // likewise
  Layout output;
  DType dtype = DType::kF64;
  int threads = 1;
  // Bytes that intermediates and copies may take, if that is bounded.
  std::optional<double> available;
};

struct Steps {
  std::vector<Step> steps;
  double peak_bytes = 0;  // of all but operands and result, if all steps run for every slice
};

// The label sets of the operands once labels that nobody else needs are summed.
std::vector<LabelSet> reduced_sets(const StepsInput& input);

// What the kernels of the steps take for themselves, in elements: the most that one of them does,
// since buffers are kept for the next one.
double most_packing(std::span<const Step> steps);

// Lowers a tree over the operands. Results of steps get the layout for which this step and the one
// that reads it are predicted to be fastest together.
Steps make_steps(const StepsInput& input, const Tree& tree, const TimeModel& model);

}  // namespace assay::einsum
