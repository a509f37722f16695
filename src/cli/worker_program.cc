// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/worker_program.h"

#include <cstdio>
#include <string_view>

#include "cli/build_commit.h"
#include "cli/workloads.h"
#include "lab/measure/attempt.h"
#include "lab/record/protocol.h"

namespace assay::cli {

int worker_main(int argc, char** argv, const WorkerProgram& program) {
  const std::string_view option = argc > 1 ? argv[1] : "";
  try {
    if (argc == 3 && option == lab::kCanLoadOption) {
      program.load(argv[2]);
      return 0;
    }
    if (argc == 2 && option == lab::kSmokeOption && program.smoke) {
      std::puts(program.smoke().c_str());
      return 0;
    }
    if (argc == 2 && option == lab::kPeaksOption && program.peaks) {
      std::puts(program.peaks().c_str());
      return 0;
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  if (argc == 2 && option == kBuiltFromOption) {
    std::printf("%s%s\n", kBuildCommit.commit, kBuildCommit.dirty ? " dirty" : "");
    return 0;
  }
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s SPEC | --can-load LIBRARY | --built-from%s\n",
                 program.name.c_str(), program.smoke ? " | --smoke | --peaks" : "");
    return 2;
  }
  return lab::run_worker(argv[1], program.workloads());
}

}  // namespace assay::cli
