// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The native worker: a program of its own, so that an attempt starts with few libraries.
#include <cstdio>

#include "cli/workloads.h"
#include "lab/measure/attempt.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: assay-worker SPEC\n", stderr);
    return 2;
  }
  return assay::lab::run_worker(argv[1], assay::cli::all_workloads());
}
