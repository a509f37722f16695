// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/einsum/cases.h"

#include "cases/einsum/case_list.h"
#include "cases/einsum/workloads.h"

namespace assay::cases::einsum {

void add_cases(lab::CaseRegistry& cases) {
  cases.add(einsum_pair_case());
  cases.add(einsum_network_case());
  cases.add(einsum_expression_case());
  cases.add(einsum_order_case());
  cases.add(decompose_cp_case());
  cases.add(decompose_tucker_case());
  cases.add(mp2_energy_case());
}

void add_workloads(lab::WorkloadRegistry& workloads) {
  add_contraction_workloads(workloads);
  add_order_workloads(workloads);
  add_decomposition_workloads(workloads);
  add_mp2_workloads(workloads);
}

}  // namespace assay::cases::einsum
