// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/run/attempt_row.h"
#include "lab/run/cores.h"
#include "lab/run/runner.h"

namespace assay::lab {

// Who is to be measured, and as part of what.
struct ProcessToMeasure {
  const RunContext& context;
  const RunRequest& request;
  const Case& definition;
  const Contender& contender;
  std::uint64_t memory_limit = 0;
  const RunGpu* gpu = nullptr;  // of an attempt on platform cuda
};

// Lets the machine settle, runs the process, and keeps what the clocks and the machine's counters
// say around it. `attempt_id` is empty for a process that serves many points.
Measured measure_process(const ProcessToMeasure& who, std::vector<Json> points,
                         const std::string& attempt_id, const std::vector<int>& cpus,
                         const CoreLock& lock);

}  // namespace assay::lab
