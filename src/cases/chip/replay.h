// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A collective's messages sent by real MPI ranks, or by ranks inside SimGrid's simulator: two
// judges of the chip engine that we did not write.

#include <cstdint>
#include <string>

#include "chip/collective.h"

namespace assay::cases::chip {

struct Replay {
  double seconds = 0;         // SMPI: simulated time until the last rank was through
  std::int64_t messages = 0;  // sent by all ranks
  std::int64_t wrong = 0;     // entries, over all ranks, that are not the sum
};

// The network as SimGrid describes platforms: our nodes, directed links and routes, rate and
// latency of every link.
std::string simgrid_platform(const assay::chip::NetworkTopology& network);

// Replays an all-reduce of 8-byte elements. `program` is chip-replay, built by SimGrid's wrapper
// (assay-chip-smpi) or against Open MPI (chip-replay-mpi). SimGrid's network model is CM02 without
// its TCP correction, so that a message of n bytes takes latency + n / bandwidth when nothing
// contends. Ranks are not charged for computing. Throws UserError with the program's own words.
Replay replay_in_simgrid(const assay::chip::CollectiveOptions& options,
                         const assay::chip::NetworkTopology& network, const std::string& program);
Replay replay_by_mpirun(const assay::chip::CollectiveOptions& options,
                        const assay::chip::NetworkTopology& network, const std::string& program);

}  // namespace assay::cases::chip
