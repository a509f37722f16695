// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab/measure/workload.h"

namespace assay::cases::own {

// The native providers of case files: libraries and commands.
void add_workloads(lab::WorkloadRegistry& workloads);

}  // namespace assay::cases::own
