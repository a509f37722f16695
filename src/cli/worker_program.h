// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "lab/measure/workload.h"

namespace assay::cli {

// The main of a worker: what its runner asks of it, whichever workloads it has.
struct WorkerProgram {
  std::string name;  // as usage calls it
  std::function<lab::WorkloadRegistry()> workloads;
  std::function<void(const std::string&)> load;  // loads a library, or throws std::exception
  std::function<std::string()> smoke;            // of a device's worker: lab::kSmokeOption
  std::function<std::string()> peaks = {};       // likewise: lab::kPeaksOption
};
int worker_main(int argc, char** argv, const WorkerProgram& program);

}  // namespace assay::cli
