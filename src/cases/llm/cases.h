// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab/measure/workload.h"
#include "lab/record/case.h"

namespace assay::cases::llm {

inline constexpr const char* kSuite = "llm";

void add_cases(lab::CaseRegistry& cases);
// The native providers.
void add_workloads(lab::WorkloadRegistry& workloads);

}  // namespace assay::cases::llm
