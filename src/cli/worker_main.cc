// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The native worker: a program of its own, so that an attempt starts with few libraries.
#include <cstdio>

#include "cases/einsum/workloads.h"
#include "cases/harness/workloads.h"
#include "cases/semiring/workloads.h"
#include "cases/transport/workloads.h"
#include "lab/measure/attempt.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: assay-worker SPEC\n", stderr);
    return 2;
  }
  assay::lab::WorkloadRegistry workloads;
  assay::cases::semiring::add_workloads(workloads);
  assay::cases::transport::add_workloads(workloads);
  assay::cases::einsum::add_workloads(workloads);
  assay::cases::harness::add_workloads(workloads);
  return assay::lab::run_worker(argv[1], workloads);
}
