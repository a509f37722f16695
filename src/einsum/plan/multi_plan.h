// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Several expressions over common operands, planned together: what two of them can have in common
// is made once, also where each of them alone would go another way.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "einsum/plan/plan.h"

namespace assay::einsum {

// One expression of several over common operands.
struct SharedExpression {
  std::string expression;
  std::vector<std::size_t> operands;  // which of the common operands, in the expression's order
};

struct MultiPlan {
  struct Call {
    std::vector<std::size_t> operands;  // common operands, or operand_count + an earlier call
    std::shared_ptr<const Plan> plan;
  };
  std::size_t operand_count = 0;  // of common operands
  std::vector<Call> calls;        // the shared intermediates, then the expressions in their order
  std::size_t shared = 0;         // intermediates
  int saved = 0;                  // contractions of one or two terms that are not made again
  double predicted_s = 0;         // of all calls
  double separate_s = 0;          // of the expressions, each planned alone
};

// Makes a plan for an expression; the dtype is that of the result.
using PlanMaker = std::function<std::shared_ptr<const Plan>(
    const std::string& expression, std::span<const OperandSpec> operands,
    std::optional<DType> dtype, Precision precision)>;

// Greedy: of all contractions of one or two terms that occur in several places, the one that lowers
// the sum of predicted times most becomes an operand of its own; then the next, with those taken so
// far as terms. Throws UserError: an operand that is not there, and what the maker throws.
MultiPlan plan_together(std::span<const SharedExpression> expressions,
                        std::span<const OperandSpec> operands, const PlanMaker& make);

}  // namespace assay::einsum
