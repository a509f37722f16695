// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How often each step of a sliced plan runs. Slices are nested loops; a step whose operands do not
// see the inner ones is the same for all of their parts, and may run outside of them, if there is
// memory to keep its result meanwhile.

#include <optional>
#include <span>
#include <vector>

#include "einsum/labels/label_set.h"
#include "einsum/plan/step.h"

namespace assay::einsum {

struct HoistInput {
  std::vector<LabelSet> operands;  // the labels that each operand has, uncut
  double element_bytes = 8;
  std::optional<double> available;  // bytes that intermediates and copies may take
};

struct Hoisted {
  double mac = 0, flop = 0, predicted_s = 0;  // of all runs of all steps
  double peak_bytes = 0;                      // of intermediates and copies
};

// Sets Step::depth of all steps, and the order of up to four slices, so that the predicted time of
// all runs is small within the memory: the step whose move outwards saves most is moved, again and
// again. Steps are as make_steps leaves them: each result is read by one later step.
Hoisted hoist(std::vector<Step>& steps, std::vector<Slice>& slices, const HoistInput& input);

}  // namespace assay::einsum
