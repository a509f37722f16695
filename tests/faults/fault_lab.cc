// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// A runner that can be killed: fault_lab WORKER start|resume JOURNAL [PROVIDERS [ROUNDS
// [PRECISION]]]
#include <atomic>
#include <cstdio>
#include <sstream>

#include "fault_case.h"
#include "lab/run/runner.h"

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string worker = argv[1], mode = argv[2], journal = argv[3];
  try {
    assay::lab::CaseRegistry cases;
    cases.add(assay::lab::fault_case());
    assay::lab::SilentProgress progress;
    const std::atomic<bool> stop = false;
    assay::lab::RunContext context;
    context.cases = &cases;
    context.programs.worker = worker;
    context.own_program = argv[0];
    context.progress = &progress;
    context.stop = &stop;
    if (mode == "resume") {
      assay::lab::resume_run(context, assay::lab::find_place(journal, ""));
      return 0;
    }
    assay::lab::RunRequest request;
    request.cases = {"toy_double"};
    request.rounds = argc > 5 ? std::stoi(argv[5]) : 4;
    if (argc > 6) request.precision = std::stod(argv[6]);
    request.settings = {
        .warm_up_calls = 0, .batches = 5, .steady_s = 0, .batch_min_s = 0, .batch_min_ticks = 1};
    request.max_steal = 1;  // what is tested does not depend on the noise of the machine
    request.max_foreign = 1;
    std::istringstream names(argc > 4 ? argv[4] : "plain,twin,simulated");
    for (std::string name; std::getline(names, name, ',');) request.providers.push_back(name);
    assay::lab::start_run(context, request, journal);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fault_lab: %s\n", e.what());
    return 1;
  }
}
