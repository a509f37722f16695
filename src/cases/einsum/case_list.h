// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cases of the suite, each made in a file of its own; cases.h is the door for others.

#include <memory>

#include "lab/measure/workload.h"
#include "lab/record/case.h"

namespace assay::cases::einsum {

std::unique_ptr<lab::Case> einsum_pair_case();
std::unique_ptr<lab::Case> einsum_network_case();
std::unique_ptr<lab::Case> einsum_expression_case();
std::unique_ptr<lab::Case> einsum_order_case();
std::unique_ptr<lab::Case> decompose_cp_case();
std::unique_ptr<lab::Case> decompose_tucker_case();
std::unique_ptr<lab::Case> mp2_energy_case();

void add_contraction_workloads(lab::WorkloadRegistry& workloads);
void add_order_workloads(lab::WorkloadRegistry& workloads);
void add_decomposition_workloads(lab::WorkloadRegistry& workloads);
void add_mp2_workloads(lab::WorkloadRegistry& workloads);

}  // namespace assay::cases::einsum
