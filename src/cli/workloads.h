// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab/measure/workload.h"

namespace assay::cli {

// Every native workload this program was built with: the worker's, and those of `--in-process`.
lab::WorkloadRegistry all_workloads();

}  // namespace assay::cli
