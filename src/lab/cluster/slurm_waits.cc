// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/slurm_waits.h"

#include <fmt/format.h>

#include <set>

namespace assay::lab {
namespace {

constexpr std::int64_t kAgainNs = 600'000'000'000;

// Reasons that come and go on a cluster where nothing is wrong.
bool time_will_tell(const std::string& reason) {
  static const std::set<std::string> kReasons = {"",
                                                 "None",
                                                 "Priority",
                                                 "Resources",
                                                 "Dependency",
                                                 "BeginTime",
                                                 "JobArrayTaskLimit",
                                                 "Cleaning",
                                                 "Prolog",
                                                 "WaitingForScheduling"};
  return kReasons.contains(reason);
}

}  // namespace

std::optional<std::string> SlurmWaits::news(const std::vector<SlurmJob>& jobs,
                                            std::int64_t now_ns) {
  for (const auto& job : jobs) {
    if (job.state != "PENDING" || time_will_tell(job.reason)) continue;
    const auto [told, is_new] = told_.try_emplace(job.reason, now_ns);
    if (!is_new && now_ns - told->second < kAgainNs) return std::nullopt;
    told->second = now_ns;
    return fmt::format(
        "job {} waits and may never start, Slurm says '{}' (--partition, --time, --nodes, "
        "--constraint say otherwise); still waiting, Ctrl-C ends",
        job.id, job.reason);
  }
  return std::nullopt;
}

std::string unanswered_end() {
  return "warning: Slurm does not answer, and jobs are to be cancelled: waiting for it; Ctrl-C "
         "again leaves them alone";
}

}  // namespace assay::lab
