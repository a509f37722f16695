// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/semiring/cases.h"

#include "cases/semiring/case_list.h"
#include "cases/semiring/workloads.h"

namespace assay::cases::semiring {

void add_cases(lab::CaseRegistry& cases) {
  cases.add(semiring_matmul_case());
  cases.add(ell_edge_aggregate_case());
  cases.add(dense_matmul_case());
}

void add_workloads(lab::WorkloadRegistry& workloads) {
  add_matmul_workloads(workloads);
  add_edge_workloads(workloads);
}

}  // namespace assay::cases::semiring
