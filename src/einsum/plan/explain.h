// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json_fwd.h"
#include "einsum/plan/plan.h"

namespace assay::einsum {

// A plan for programs. `report`, of a run with RunOptions::analyze, adds what was measured.
//   {expression, backend, mac, flop, peak_bytes, objective, optimal, …,
//    steps: [{operands, expression, backend, kernel, m, n, k, batch, mac, bytes, copies,
//             predicted_s, band, runner_up, …}]}
Json explain(const Plan& plan, const RunReport* report = nullptr);

// The same for people: what is computed, in which order and why so, a line for each step.
std::string explain_text(const Plan& plan, const RunReport* report = nullptr);

}  // namespace assay::einsum
