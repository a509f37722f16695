// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/calibration.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "lab/stats/detectable.h"
#include "lab/stats/distributions.h"
#include "lab/stats/quantile.h"

namespace assay::lab {

Rate rate_of(int count, int trials, double confidence) {
  if (trials < 1) fail("a rate needs at least one trial, got {}", trials);
  const auto interval = clopper_pearson(count, trials, confidence);
  return {count, trials, static_cast<double>(count) / trials, interval};
}

AaSummary summarise_aa(std::span<const std::vector<double>> comparisons,
                       const GateSettings& settings) {
  if (comparisons.empty()) fail("calibration: no A/A comparisons");
  std::vector<double> sizes, sigmas;
  int alarms = 0, unresolved = 0, excluding = 0;
  for (const auto& d : comparisons) {
    auto mirrored = d;
    for (double& value : mirrored) value = -value;
    bool first = true;
    for (const auto& side : {d, mirrored}) {
      const Evidence evidence = PairedEvidence{side};
      const auto row = decide_gate({&evidence, 1}, settings).front();
      alarms += row.verdict == Verdict::kRegressed;
      unresolved += row.verdict == Verdict::kUnresolved;
      if (first) excluding += row.interval && (row.interval->low > 1 || row.interval->high < 1);
      first = false;
    }
    sizes.push_back(std::fabs(median(d)));
    sigmas.push_back(robust_sigma(d));
  }
  AaSummary summary;
  summary.comparisons = static_cast<int>(comparisons.size());
  summary.floor = std::expm1(quantile(sizes, 0.99));
  summary.largest = std::expm1(std::ranges::max(sizes));
  summary.sigma_d = median(sigmas);
  summary.false_alarms = rate_of(alarms, 2 * summary.comparisons);
  summary.unresolved = rate_of(unresolved, 2 * summary.comparisons);
  summary.excludes_one = rate_of(excluding, summary.comparisons);
  return summary;
}

double effective_tolerance(double asked, double floor) {
  if (!(asked >= 0) || !std::isfinite(asked)) {
    fail("the tolerance must be finite and not negative, got {}", asked);
  }
  check(floor >= 0 && std::isfinite(floor), "a floor is finite and not negative");
  return std::max(asked, floor);
}

}  // namespace assay::lab
