// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/arguments/arguments.h"
#include "lab/decide/gate.h"

namespace assay::cli {

struct MeasuredGate {
  lab::GateResult result;
  std::string baseline, current;  // what the sides were, for people
  std::vector<lab::Row> baseline_rows, current_rows;
};

// Measures both sides, judges, measures more rounds of what is unresolved within the budget, and
// judges again. Nothing when the user interrupted it.
std::optional<MeasuredGate> run_gate(const GateArguments& arguments, lab::GateOptions options);

}  // namespace assay::cli
