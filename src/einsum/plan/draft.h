// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A plan in the making: from an order of contractions and parts of the labels to steps.

#include <cstdint>
#include <vector>

#include "einsum/plan/plan.h"
#include "einsum/plan/steps.h"

namespace assay::einsum {

double bytes_of(DType dtype, const Shape& shape);

// The extent of each label as one slice sees it: a divisor of the whole.
using Parts = std::vector<std::int64_t>;

struct Draft {
  // `plan` has its problem, options, operands and dtypes; its operand_strides are set here.
  Draft(Plan& plan, const TimeModel& model);

  StepsInput input(const Parts& of) const;
  Network network(const StepsInput& input, std::vector<LabelSet> terms) const;
  std::vector<LabelSet> operand_labels() const;                  // along which each operand changes
  double cost(const StepsInput& input, const Tree& tree) const;  // by the plan's objective

  // Makes these the plan's steps; slices and costs follow.
  void take(Steps steps, const StepsInput& input);
  bool is_squeezed() const;  // a kernel of the plan lacks room

  Plan& plan;
  const TimeModel& model;
  Parts parts;  // nothing is cut at first
  // Of what lives as long as the run: operands, their copies in the dtype of the steps, the result
  // and its copy in that dtype.
  double fixed_bytes = 0;
};

}  // namespace assay::einsum
