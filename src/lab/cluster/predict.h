// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "lab/cluster/dispatch.h"
#include "lab/record/request.h"
#include "lab/record/row.h"
#include "lab/run/plan.h"

namespace assay::lab {

// What there is to do at each point of a plan: how long all attempts will take, by what was asked
// for and the case's cost model, and what the rows say is done. A guess is enough: tasks are packed
// so that nodes end together although it is wrong by half, and what was measured takes its place.
std::vector<PointWork> predicted_work(const Plan& plan, const RunRequest& request,
                                      std::span<const Row> rows);

}  // namespace assay::lab
