// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab/measure/workload.h"

namespace assay::cases::einsum::cuda {

void add_workloads(lab::WorkloadRegistry& workloads);
// Of decompose_cp and decompose_tucker; part of the above.
void add_decomposition_workloads(lab::WorkloadRegistry& workloads);

}  // namespace assay::cases::einsum::cuda
