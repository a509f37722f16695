// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "lab/measure/workload.h"
#include "lab/record/case.h"

namespace assay::cases::chip {

// chip_events: how many events a second the simulator's kernel runs.
std::unique_ptr<lab::Case> events_case();
void add_events_workload(lab::WorkloadRegistry& workloads);

}  // namespace assay::cases::chip
