// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a run would do, for `--dry-run`.

#include "base/json.h"
#include "lab/run/plan.h"

namespace assay::cli {

// To standard output: points, who is refused there and why, and the order of rounds.
void print_plan(const lab::Plan& plan);

Json plan_json(const lab::Plan& plan);

}  // namespace assay::cli
