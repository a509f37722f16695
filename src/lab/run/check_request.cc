// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/check_request.h"

#include "base/error.h"
#include "lab/stats/stopping.h"

namespace assay::lab {

void check_request(const RunRequest& r) {
  const auto at_least = [](const char* name, double value, double least) {
    if (!(value >= least)) fail("{} must be at least {}, got {}", name, least, value);
  };
  at_least("--rounds", r.rounds, 1);
  at_least("--budget", r.budget_s, 0);
  at_least("--precision", r.precision, 0);
  if (r.precision > 0 && r.rounds != kMaxRounds) {
    fail("--precision decides the number of rounds itself, up to {}; got --rounds {}", kMaxRounds,
         r.rounds);
  }
  at_least("--batches", r.settings.batches, kMinBatches);
  at_least("--warm-up", r.settings.warm_up_calls, 0);
  at_least("--cpu-slots", r.cpu_slots, 1);
  at_least("--cores", r.cores, 0);
  at_least("--tries", r.max_tries, 1);
  if (!(r.time_limit_s > 0)) fail("--limit must be more than 0 s, got {}", r.time_limit_s);
  for (const auto& platform : r.platforms) {
    if (platform != "cpu" && platform != "cuda")
      fail("unknown platform (cpu, cuda): '{}'", platform);
  }
}

}  // namespace assay::lab
