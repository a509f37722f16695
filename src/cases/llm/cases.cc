// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/llm/cases.h"

#include "cases/llm/case_list.h"

namespace assay::cases::llm {

void add_cases(lab::CaseRegistry& cases) {
  cases.add(saturation_case());
  cases.add(graph_fusion_case());
  cases.add(graph_blocks_case());
  for (auto& c : model_cases()) cases.add(std::move(c));
}

void add_workloads(lab::WorkloadRegistry& workloads) {
  add_saturation_workloads(workloads);
  add_graph_workloads(workloads);
  add_model_workloads(workloads);
}

}  // namespace assay::cases::llm
