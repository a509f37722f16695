// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/disturbances.h"

#include <fmt/format.h>

#include "base/json.h"
#include "lab/run/ledger.h"

namespace assay::lab {

std::vector<std::string> Disturbances::notice(const Row& row) {
  std::vector<std::string> lines;
  const auto& p = row.provenance;
  const double foreign = p.foreign_fraction().value_or(0);
  if (foreign > max_foreign_ && loaded_++ == 0) {
    lines.push_back(fmt::format(
        "warning: other programs took {:.0f} % of the time of cores {}: attempts they disturb are "
        "made again, or kept and marked",
        100 * foreign, canonical_json(Json(p.cpus.value_or(std::vector<int>())))));
  }
  if (!p.contaminated) return lines;
  ++kept_;
  if (kept_ == 1) {
    lines.push_back(fmt::format("{} round {}: kept though disturbed at every try: {}", row.provider,
                                row.round + 1, *p.contaminated));
  }
  if (kept_ == Ledger::kMostKept) {
    lines.emplace_back(
        "warning: exclusion does not end here: where attempt after attempt is disturbed they are "
        "kept, marked, and not repeated");
  }
  return lines;
}

std::vector<std::string> Disturbances::sum() const {
  std::vector<std::string> lines;
  if (loaded_ > 1) {
    lines.push_back(
        fmt::format("warning: other programs took more than {:.3g} % of the cores in {} attempts",
                    100 * max_foreign_, loaded_));
  }
  if (kept_ > 1) lines.push_back(fmt::format("{} attempts were kept though disturbed", kept_));
  return lines;
}

}  // namespace assay::lab
