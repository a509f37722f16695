// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the scatter of a measurement comes from: batches within a process, processes, runs.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace assay::lab {

// Standard deviations of ln(time), so that 0.01 is one per cent.
struct NoiseBudget {
  int runs = 0, attempts = 0, batches = 0;
  std::optional<double> within_process;     // nothing: no attempt has two batches
  std::optional<double> between_processes;  // nothing: no run has two attempts
  std::optional<double> between_runs;       // nothing: one run only
};

// One run: its attempts, each the list of its batch times.
using RunBatches = std::vector<std::vector<double>>;

// The variance split of a nested design by the method of moments (unbalanced designs allowed);
// estimates that come out negative are zero. Times are positive and finite, an attempt has at least
// one batch, and there is at least one attempt (UserError otherwise). O(batches).
NoiseBudget noise_budget(std::span<const RunBatches> runs);

// Bimodal attempts are not one number: their median says where the larger mode
// lies, and their spread nothing at all.
struct Modes {
  double low = 0, high = 0;  // means of the two modes
  int low_count = 0, high_count = 0;
  double separation = 0;  // |difference of means| over the root mean square of both spreads
  double p = 1;           // of such a separation in a uniform sample, the flattest single mode
};
// The two modes of one value per attempt, or nothing when one mode explains them. The sample is cut
// where both parts scatter least; two modes are reported when each part has at least a fifth of the
// values (and three), and the separation is larger than in all but 1 % of uniform samples of the
// same size (p = (b + 1)/(M + 1), M = 999, seeded). Needs at least 8 values; finite ones
// (UserError). About a millisecond for 80 values.
std::optional<Modes> two_modes(std::span<const double> values, std::uint64_t seed = 0);

}  // namespace assay::lab
