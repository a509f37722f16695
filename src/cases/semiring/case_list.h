// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cases of the suite, each made in a file of its own; cases.h is the door for others.

#include <memory>

#include "lab/measure/workload.h"
#include "lab/record/case.h"

namespace assay::cases::semiring {

std::unique_ptr<lab::Case> semiring_matmul_case();
std::unique_ptr<lab::Case> dense_matmul_case();
std::unique_ptr<lab::Case> ell_edge_aggregate_case();

void add_matmul_workloads(lab::WorkloadRegistry& workloads);
void add_edge_workloads(lab::WorkloadRegistry& workloads);

}  // namespace assay::cases::semiring
