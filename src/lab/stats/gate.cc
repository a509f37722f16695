// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/gate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/error.h"
#include "lab/stats/detectable.h"
#include "lab/stats/family.h"
#include "lab/stats/paired_ratio.h"
#include "lab/stats/unpaired_ratio.h"

namespace assay::lab {
namespace {

void check_settings(const GateSettings& s) {
  if (!(s.tolerance >= 0) || !std::isfinite(s.tolerance)) {
    fail("gate: the tolerance must be finite and not negative, got {}", s.tolerance);
  }
  if (!(s.alpha > 0 && s.alpha < 1)) fail("gate: alpha must lie between 0 and 1, got {}", s.alpha);
}

int rounds_for(const GateSettings& s, double sigma_d) {
  return s.tolerance > 0 ? rounds_needed(s.tolerance, sigma_d, s.alpha, s.power) : 0;
}

GateRow describe(const PairedEvidence& evidence, const GateSettings& s) {
  auto d = evidence.d;
  if (d.empty()) fail("gate: a row has no rounds that both sides share");
  std::ranges::sort(d);  // no digit of what follows depends on the order of rounds
  const auto ratio = ratio_of_differences(d, s.confidence);
  GateRow row;
  row.rounds = ratio.rounds;
  row.ratio = ratio.ratio;
  row.interval = ratio.interval;
  const double sigma = robust_sigma(d);
  row.detectable = minimum_detectable_effect(sigma, row.rounds, s.alpha, s.power);
  row.rounds_for_tolerance = rounds_for(s, sigma);
  return row;
}

double log_sigma(std::span<const double> values) {
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  return robust_sigma(logs);
}

GateRow describe(const UnpairedEvidence& evidence, const GateSettings& s) {
  const auto ratio = unpaired_ratio(evidence.baseline, evidence.current, s.confidence);
  GateRow row;
  row.ratio = ratio.ratio;
  row.interval = ratio.interval;
  row.rounds = std::min(ratio.a_count, ratio.b_count);
  // The variance of a difference of medians is σ_a²/m + σ_b²/n; written as σ_d²/R with R the
  // smaller side, so that one formula serves both kinds of evidence.
  const double a = log_sigma(evidence.baseline), b = log_sigma(evidence.current);
  const double sigma = std::sqrt(row.rounds * (a * a / ratio.a_count + b * b / ratio.b_count));
  row.detectable = minimum_detectable_effect(sigma, row.rounds, s.alpha, s.power);
  row.rounds_for_tolerance = rounds_for(s, sigma);
  return row;
}

double ratio_of(double current, double baseline, const char* what) {
  for (const double value : {current, baseline}) {
    if (!std::isfinite(value) || value <= 0) {
      fail("min-p95 rule: a {} is not positive and finite: {}", what, value);
    }
  }
  return current / baseline;
}

}  // namespace

GateRow describe_row(const Evidence& row, const GateSettings& settings) {
  check_settings(settings);
  return std::visit([&](const auto& evidence) { return describe(evidence, settings); }, row);
}

std::vector<GateRow> decide_gate(std::span<const Evidence> rows, const GateSettings& settings) {
  const std::vector<double> same(rows.size(), settings.tolerance);
  check_settings(settings);
  return decide_gate(rows, same, settings);
}

std::vector<GateRow> decide_gate(std::span<const Evidence> rows, std::span<const double> tolerances,
                                 GateSettings settings) {
  check(rows.size() == tolerances.size(), "every row of a gate has a tolerance");
  std::vector<GateRow> result;
  std::vector<double> thresholds;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    settings.tolerance = tolerances[i];
    result.push_back(describe_row(rows[i], settings));
    thresholds.push_back(std::log1p(tolerances[i]));
  }
  const auto p = judge_family(
      rows, thresholds, {.one_sided = true, .alpha = settings.alpha, .draws = settings.draws});
  for (std::size_t i = 0; i < result.size(); ++i) {
    auto& row = result[i];
    row.p = p[i].own;
    row.p_adjusted = p[i].adjusted;
    if (!row.interval) continue;
    if (row.p_adjusted <= settings.alpha && row.interval->low > 1 + tolerances[i]) {
      row.verdict = Verdict::kRegressed;
    } else if (row.interval->high < 1 + tolerances[i]) {
      row.verdict = Verdict::kPass;
    }
  }
  return result;
}

MinP95 min_p95_rule(double current_min, double current_p95, double baseline_min,
                    double baseline_p95) {
  MinP95 result;
  result.min_ratio = ratio_of(current_min, baseline_min, "minimum");
  result.p95_ratio = ratio_of(current_p95, baseline_p95, "95 % quantile");
  result.regressed = result.min_ratio > kMinLimit || result.p95_ratio > kP95Limit;
  return result;
}

}  // namespace assay::lab
