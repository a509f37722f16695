// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "lab/measure/workload.h"
#include "lab/record/case.h"

namespace assay::cases::llm {

std::unique_ptr<lab::Case> saturation_case();
std::unique_ptr<lab::Case> graph_fusion_case();
std::unique_ptr<lab::Case> graph_blocks_case();
// About whole models.
std::vector<std::unique_ptr<lab::Case>> model_cases();
void add_saturation_workloads(lab::WorkloadRegistry& workloads);
void add_graph_workloads(lab::WorkloadRegistry& workloads);
void add_model_workloads(lab::WorkloadRegistry& workloads);

}  // namespace assay::cases::llm
