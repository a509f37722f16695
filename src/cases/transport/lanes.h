// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "transport/scan/scan.h"

namespace assay::cases::transport {

// Ways to spread the cases of a scan over the cores, besides the engine's own threads. Both return
// the solutions in the order of the cases (without warnings) and throw UserError when a part fails.

struct LaneResult {
  std::vector<assay::transport::Solution> solutions;
  double child_memory = 0;  // bytes, see lab::Workload
};

// Forked processes, case i in process i mod `processes`; results come back through shared memory.
// Their memory is what each came to hold beyond what it had when it was forked.
LaneResult solve_in_processes(const assay::transport::Prepared& prepared,
                              std::span<const assay::transport::Case> cases, int processes);

// `mpirun -n RANKS assay-transport scan`: starting the ranks is part of it. The program is looked
// for beside this one. Their memory is that of the ranks, not of mpirun. Throws ProviderFailure
// (env_missing) when it or mpirun is not there.
LaneResult solve_in_ranks(const assay::transport::Surface& surface,
                          const assay::transport::Grid& grid,
                          std::span<const assay::transport::Case> cases, int ranks, int batch);

}  // namespace assay::cases::transport
