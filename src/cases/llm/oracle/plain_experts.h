// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Mixtures of experts from their definition, by plain loops in f64.

#include <functional>

#include "cases/llm/oracle/plain_layers.h"

namespace assay::cases::llm {

// Experts that one token goes through, and how much each counts.
struct PlainRoute {
  std::int64_t expert = 0;
  double weight = 0;
};
// Of each row of scores the `top` largest by softmax over all of them; divided by their sum where
// they are renormalised.
std::vector<std::vector<PlainRoute>> plain_routes(const PlainMatrix& scores, std::int64_t top,
                                                  bool renormalises = true);

// Weighted sums of what each row's experts make of it, `columns` wide; `expert` computes the rows
// of one.
using PlainExpert = std::function<PlainMatrix(std::int64_t expert, const PlainMatrix& rows)>;
PlainMatrix plain_mixture(const PlainMatrix& x, const std::vector<std::vector<PlainRoute>>& routes,
                          std::int64_t columns, const PlainExpert& expert);

// The experts of one layer by itself: gated products with matrices (experts×k×n), by a router
// (experts×k).
PlainMatrix plain_experts(const PlainMatrix& x, const TensorView& router, const TensorView& gate,
                          const TensorView& up, const TensorView& down, std::int64_t top);

}  // namespace assay::cases::llm
