// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workloads.h"

#include "cases/chip/workloads.h"
#include "cases/einsum/workloads.h"
#include "cases/harness/workloads.h"
#include "cases/llm/cases.h"
#include "cases/own/workloads.h"
#include "cases/semiring/workloads.h"
#include "cases/transport/workloads.h"

namespace assay::cli {

lab::WorkloadRegistry all_workloads() {
  lab::WorkloadRegistry workloads;
  cases::semiring::add_workloads(workloads);
  cases::transport::add_workloads(workloads);
  cases::chip::add_workloads(workloads);
  cases::einsum::add_workloads(workloads);
  cases::llm::add_workloads(workloads);
  cases::harness::add_workloads(workloads);
  cases::own::add_workloads(workloads);
  return workloads;
}

}  // namespace assay::cli
