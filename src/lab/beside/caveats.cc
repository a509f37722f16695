// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/beside/caveats.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "lab/record/metrics.h"
#include "lab/stats/noise_budget.h"
#include "lab/stats/sign_interval.h"

namespace assay::lab {
namespace {

constexpr double kConfidence = 0.95;  // of the intervals that paired_ratio() gives by default
constexpr int kNameWidth = 60;

std::string name(const std::string& text) { return fit(printable(text), kNameWidth); }

// Why there is no ratio, or none with an interval; empty when all is well.
std::string about_ratio(const Summary& s) {
  if (s.is_baseline || s.rounds == 0) return {};
  const char* where = s.devices.size() > 1 ? " and on one device" : "";
  if (s.baseline.empty()) return "no ratio: the rows name no baseline";
  if (!s.ratio && s.counts.contains(Status::kWrongResult)) {
    return "no ratio: a wrong result can win nothing";
  }
  if (!s.ratio) {
    return fmt::format("no ratio: not once in the same round as its baseline '{}', with both ok{}",
                       name(s.baseline), where);
  }
  const int least = minimum_rounds(kConfidence);
  if (!s.ratio->interval) {
    return fmt::format("no interval: {} with its baseline{}, at least {} are needed",
                       plural(s.ratio->rounds, "round"), where, least);
  }
  if (s.ratio->rounds < s.rounds) {
    return fmt::format("the ratio uses {} of {}, those in which both sides were ok{}",
                       s.ratio->rounds, plural(s.rounds, "round"), where);
  }
  return {};
}

// A median over devices is of several things, and a difference between them is not the provider's.
std::string about_devices(const Summary& s) {
  if (s.devices.size() < 2) return {};
  std::vector<std::string> names;
  for (const auto& device : s.devices) names.push_back(name(device));
  return fmt::format("the rows of this point come from {} devices ({})", s.devices.size(),
                     fmt::join(names, ", "));
}

// Bimodal attempts are shown as such: one median would speak for neither.
std::string about_modes(const Summary& s) {
  if (s.runs.size() != 1) return {};  // runs lie apart for other reasons
  const auto modes = two_modes(s.values(Status::kOk));
  if (!modes) return {};
  const Metric* metric = find_metric(s.metric);
  const auto show = [&](double value) {
    return metric != nullptr && metric->unit == "s" ? format_seconds(value)
                                                    : fmt::format("{:.4g}", value);
  };
  return fmt::format("its attempts are bimodal: {} about {} and {} about {}", modes->low_count,
                     show(modes->low), modes->high_count, show(modes->high));
}

}  // namespace

std::string status_words(Status status) {
  std::string words(name_of(status));
  std::ranges::replace(words, '_', ' ');
  return status == Status::kEnvMissing ? "environment missing" : words;
}

std::vector<std::string> summary_caveats(const Summary& s) {
  std::vector<std::string> caveats;
  if (auto text = about_ratio(s); !text.empty()) caveats.push_back(std::move(text));
  if (auto text = about_devices(s); !text.empty()) caveats.push_back(std::move(text));
  if (auto text = about_modes(s); !text.empty()) caveats.push_back(std::move(text));
  if (s.above_ceiling) {
    caveats.emplace_back(
        "faster than this machine's measured ceiling: that was taken in a slow moment, or is out "
        "of "
        "date (assay doctor --peaks)");
  }
  int all = 0, unused = 0;
  for (const auto& [status, count] : s.counts) {
    all += count;
    if (is_void(status)) unused += count;
  }
  for (const auto& [status, count] : s.counts) {
    if (status == Status::kOk || is_void(status) || count == all) continue;
    caveats.push_back(
        fmt::format("{} of {}: {}", count, plural(all, "attempt"), status_words(status)));
  }
  if (unused > 0 && unused < all) {
    caveats.push_back(
        fmt::format("{} excluded or interrupted, counted but not used", plural(unused, "attempt")));
  }
  if (s.disturbed > 0) {
    caveats.push_back(fmt::format("{} kept though disturbed at every try ({})",
                                  plural(s.disturbed, "attempt"),
                                  fit(printable(s.disturbance), 120)));
  }
  int without = 0;
  for (const auto& attempt : s.attempts) {
    without += attempt.status == Status::kOk && std::isnan(attempt.value);
  }
  if (without > 0) {
    caveats.push_back(
        fmt::format("{} without a usable {}", plural(without, "ok attempt"), name(s.metric)));
  }
  if (!s.unequal_work.empty()) {
    caveats.push_back(fmt::format("unequal work: {}", fit(printable(s.unequal_work), 300)));
  }
  if (s.isolation == "in-process") {
    caveats.push_back("measured inside the runner's process, not in a fresh one");
  }
  if (s.other_contents > 0) {
    caveats.push_back(fmt::format("{} of other contents of the case's files left out",
                                  plural(s.other_contents, "attempt")));
  }
  if (s.runs.size() > 1) {
    caveats.push_back(fmt::format("pooled over {} runs", s.runs.size()));
  }
  return caveats;
}

std::vector<std::string> environment_caveats(std::span<const Row> rows) {
  std::vector<std::string> caveats;
  std::optional<double> floor;  // the largest any row knew
  int uncalibrated = 0;
  std::set<std::string> dirty, commits;
  int measured = 0, stolen = 0, shared = 0, loaded = 0;
  double most_steal = 0, most_foreign = 0, most_load = 0;
  for (const Row& row : rows) {
    if (const auto of_row = row.provenance.calibration_floor()) {
      floor = std::max(floor.value_or(0), *of_row);
    } else {
      uncalibrated += is_measured(row.status);
    }
    if (row.provenance.dirty.value_or(false)) dirty.insert(row.run_id);
    if (const auto commit = row.provenance.commit) commits.insert(*commit);
    if (!is_measured(row.status)) continue;
    ++measured;
    const double steal = std::fmax(0, row.provenance.steal_fraction().value_or(0));
    stolen += steal > kHighSteal;
    most_steal = std::fmax(most_steal, steal);
    const double foreign = std::fmax(0, row.provenance.foreign_fraction().value_or(0));
    shared += foreign > kHighForeign;
    most_foreign = std::fmax(most_foreign, foreign);
    const auto cores = row.machine.cores;
    const auto load = row.provenance.load_before();
    if (cores && load && *load > static_cast<double>(*cores)) {
      ++loaded;
      most_load = std::fmax(most_load, *load);
    }
  }
  if (uncalibrated > 0 && !floor) {
    caveats.push_back(
        "uncalibrated: the rows carry no A/A calibration, so how small a difference this machine "
        "can show is not known");
  } else if (uncalibrated > 0) {
    caveats.push_back(fmt::format("uncalibrated: {} of {} were measured without an A/A calibration",
                                  uncalibrated, plural(measured, "attempt")));
  }
  if (floor) {
    caveats.push_back(fmt::format(
        "calibrated: the machine itself makes differences of up to {:.2g} % (A/A floor)",
        100 * *floor));
  }
  for (const auto& run : dirty) {
    caveats.push_back(
        fmt::format("run {} was measured from a tree with uncommitted changes", name(run)));
  }
  if (commits.size() > 1) {
    caveats.push_back(fmt::format("the rows come from {} commits", commits.size()));
  }
  if (stolen > 0) {
    caveats.push_back(fmt::format(
        "another virtual machine took more than {:.0f} % of the processor in {} of {} (at most "
        "{:.1f} %)",
        100 * kHighSteal, stolen, plural(measured, "attempt"), 100 * most_steal));
  }
  if (shared > 0) {
    caveats.push_back(fmt::format(
        "other programs took more than {:.0f} % of the cores' time in {} of {} (at most {:.1f} %)",
        100 * kHighForeign, shared, plural(measured, "attempt"), 100 * most_foreign));
  }
  if (loaded > 0) {
    caveats.push_back(
        fmt::format("the load before {} of {} was above the number of cores (at most {:.1f})",
                    loaded, plural(measured, "attempt"), most_load));
  }
  return caveats;
}

}  // namespace assay::lab
