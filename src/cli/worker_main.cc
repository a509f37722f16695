// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// The native worker: a program of its own, so that an attempt starts with few libraries.
#include <dlfcn.h>

#include <cstdio>
#include <string_view>

#include "cli/build_commit.h"
#include "cli/workloads.h"
#include "lab/measure/attempt.h"
#include "lab/record/protocol.h"

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == assay::lab::kCanLoadOption) {
    if (::dlopen(argv[2], RTLD_LAZY | RTLD_LOCAL) != nullptr) return 0;
    std::fprintf(stderr, "cannot load library: %s\n", ::dlerror());
    return 1;
  }
  if (argc == 2 && std::string_view(argv[1]) == assay::cli::kBuiltFromOption) {
    std::printf("%s%s\n", assay::cli::kBuildCommit.commit,
                assay::cli::kBuildCommit.dirty ? " dirty" : "");
    return 0;
  }
  if (argc != 2) {
    std::fputs("usage: assay-worker SPEC | --can-load LIBRARY | --built-from\n", stderr);
    return 2;
  }
  return assay::lab::run_worker(argv[1], assay::cli::all_workloads());
}
