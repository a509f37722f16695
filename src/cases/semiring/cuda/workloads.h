// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lab/measure/workload.h"

namespace assay::cases::semiring::cuda {

void add_workloads(lab::WorkloadRegistry& workloads);

// A small product on the device, held to its answer: what the device is as one line of JSON. Throws
// std::exception where it does not work.
std::string smoke();

}  // namespace assay::cases::semiring::cuda
