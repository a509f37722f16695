// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/beside/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "lab/beside/caveats.h"
#include "lab/beside/contents.h"
#include "lab/record/fields.h"
#include "lab/record/metrics.h"
#include "lab/stats/quantile.h"

namespace assay::lab {
namespace {

using Providers = std::map<std::string, RowPointers>;  // rows in the order they were made

// The newest row's word, or the caller's.
CaseFacts facts_of(const std::string& case_name, const Providers& providers,
                   const CaseFactsByName& cases) {
  CaseFacts facts;
  if (const auto known = cases.find(case_name); known != cases.end()) facts = known->second;
  const Row *baseline_from = nullptr, *metric_from = nullptr;
  for (const auto& [provider, rows] : providers) {
    for (const Row* row : rows) {
      const auto newer = [&](const Row* than) {
        return than == nullptr || made_before(*than, *row);
      };
      if (const auto& text = row->provenance.baseline; text && newer(baseline_from)) {
        facts.baseline = *text;
        baseline_from = row;
      }
      if (const auto& text = row->provenance.primary_metric; text && newer(metric_from)) {
        facts.primary_metric = *text;
        metric_from = row;
      }
    }
  }
  return facts;
}

constexpr std::array<Status, 10> kMostTellingFirst = {
    Status::kWrongResult, Status::kCrashed,    Status::kOutOfMemory, Status::kTimeout,
    Status::kFailed,      Status::kOk,         Status::kEnvMissing,  Status::kSkipped,
    Status::kExcluded,    Status::kInterrupted};

void count_statuses(std::span<const Row* const> rows, Summary& s) {
  for (const Row* row : rows) ++s.counts[row->status];
  s.status = *std::ranges::find_if(kMostTellingFirst,
                                   [&](Status status) { return s.counts.contains(status); });
  for (const Row* row : rows) {
    if (row->status != s.status) continue;
    s.failure = row->failure;
    s.as_expected = s.status != Status::kOk && row->as_expected();
  }
  std::set<std::pair<std::string, int>> rounds;
  std::set<std::string> runs;
  for (const Row* row : rows) {
    runs.insert(row->run_id);
    if (is_measured(row->status)) rounds.emplace(row->run_id, row->round);
  }
  s.rounds = static_cast<int>(rounds.size());
  s.runs.assign(runs.begin(), runs.end());
}

std::optional<double> median_of(std::span<const Row* const> rows, Status status,
                                const std::string& metric) {
  std::vector<double> values;
  for (const Row* row : rows) {
    if (row->status != status) continue;
    if (const double value = usable_value(*row, metric); !std::isnan(value))
      values.push_back(value);
  }
  if (values.empty()) return std::nullopt;
  return median(values);
}

// The larger; NaN, which says that something is badly wrong, is larger than any number.
void raise_to(std::optional<double>& worst, std::optional<double> value) {
  if (!value || (worst && std::isnan(*worst))) return;
  if (!worst || std::isnan(*value) || *value > *worst) worst = value;
}

constexpr double kAboveCeiling = 1.05;  // less is within what a ceiling can be measured to

void measure(std::span<const Row* const> rows, Summary& s) {
  s.median = median_of(rows, Status::kOk, s.metric);
  if (!s.median) s.median = median_of(rows, Status::kWrongResult, s.metric);
  s.fraction_of_limit = median_of(rows, Status::kOk, "fraction_of_limit");
  for (const Row* row : rows) {
    s.attempts.push_back({row->status, usable_value(*row, s.metric)});
    if (is_void(row->status)) continue;
    if (row->fidelity) raise_to(s.fidelity_error, row->fidelity->error);
    s.unjudged |=
        row->status == Status::kOk && row->fidelity && row->fidelity->status == Fidelity::kNoOracle;
    s.above_ceiling |= ok_value(*row, "fraction_of_limit") > kAboveCeiling &&
                       row->provenance.limit && row->provenance.limit->is_bound.value_or(false);
    for (const char* metric : {"peak_rss_start", "peak_rss_cold", "peak_rss_steady"}) {
      if (const double bytes = row->metric_or_nan(metric); std::isfinite(bytes)) {
        raise_to(s.peak_rss, bytes);
      }
    }
    if (const double bytes = row->metric_or_nan("peak_device_memory"); std::isfinite(bytes)) {
      raise_to(s.peak_device_memory, bytes);
    }
    if (const auto& cause = row->provenance.contaminated; cause && is_measured(row->status)) {
      ++s.disturbed;
      s.disturbance = *cause;
    }
    if (const auto& reason = row->provenance.unequal_work) s.unequal_work = *reason;
  }
}

std::vector<std::string> devices_of(const Providers& providers) {
  std::set<std::string> devices;
  for (const auto& [provider, rows] : providers) {
    for (const Row* row : rows) {
      if (const auto device = device_of(*row); is_measured(row->status) && !device.empty()) {
        devices.insert(device);
      }
    }
  }
  return {devices.begin(), devices.end()};
}

using Places = std::map<Place, Providers>;

// Whoever changes what a case file asks leaves rows of another problem under the same name. They
// stand at places of their own, and what is shown is the newest: takes the others out, and says how
// many rows of each provider went, by place without its problem.
std::map<Place, std::map<std::string, int>> leave_newest_problems(Places& places) {
  std::map<Place, const Row*> newest;
  const auto without_problem = [](Place place) {
    place.problem.clear();
    return place;
  };
  for (const auto& [place, providers] : places) {
    auto& last = newest[without_problem(place)];
    for (const auto& [provider, rows] : providers) {
      for (const Row* row : rows) {
        if (last == nullptr || made_before(*last, *row)) last = row;
      }
    }
  }
  std::map<Place, std::map<std::string, int>> gone;
  std::erase_if(places, [&](const auto& entry) {
    const auto& [place, providers] = entry;
    const auto key = without_problem(place);
    if (place_of(*newest.at(key)) == place) return false;
    for (const auto& [provider, rows] : providers) {
      gone[key][provider] += static_cast<int>(rows.size());
    }
    return true;
  });
  return gone;
}

void judge_together(std::vector<Summary>& summaries, const std::map<SeriesId, Evidence>& family) {
  std::vector<Evidence> rows;
  for (const auto& [series, evidence] : family) rows.push_back(evidence);
  const auto p = judge_family(rows);
  for (auto& s : summaries) {
    const auto found = family.find(s);
    if (found == family.end()) continue;
    s.p = p[static_cast<std::size_t>(std::distance(family.begin(), found))];
    s.shown = what_is_shown(s.ratio->interval, s.p);
  }
}

}  // namespace

std::vector<double> Summary::values(Status ended) const {
  std::vector<double> values;
  for (const auto& attempt : attempts) {
    if (attempt.status == ended && !std::isnan(attempt.value)) values.push_back(attempt.value);
  }
  return values;
}

std::optional<double> Summary::peak_memory() const {
  return platform == "cuda" && peak_device_memory ? peak_device_memory : peak_rss;
}

Summary summarise_series(SeriesId series, std::span<const Row* const> attempts,
                         const std::string& metric) {
  Summary s{std::move(series)};
  s.metric = metric;
  count_statuses(attempts, s);
  measure(attempts, s);
  return s;
}

std::vector<Summary> summarise(std::span<const Row> rows, const CaseFactsByName& cases) {
  Places places;
  for (const Row& row : rows) places[place_of(row)][row.provider].push_back(&row);

  auto gone = leave_newest_problems(places);

  std::vector<Summary> summaries;
  std::map<SeriesId, Evidence> family;
  for (auto& [place, providers] : places) {
    auto key = place;
    key.problem.clear();
    auto& left_out = gone[key];
    for (auto& [provider, attempts] : providers) {
      std::ranges::sort(attempts, [](auto* a, auto* b) { return made_before(*a, *b); });
      left_out[provider] += leave_newest_contents(attempts);
    }
    const auto facts = facts_of(place.case_name, providers, cases);
    const auto baseline = providers.find(facts.baseline);
    const auto devices = devices_of(providers);
    const auto first = summaries.size();
    for (const auto& [provider, attempts] : providers) {
      auto s = summarise_series({place, provider}, attempts, facts.primary_metric);
      s.baseline = facts.baseline;
      s.is_baseline = provider == facts.baseline;
      s.devices = devices;
      s.other_contents = left_out[provider];
      if (s.is_baseline) {
        if (s.status == Status::kOk) s.ratio = PairedRatio{s.rounds, 1, std::nullopt};
      } else if (baseline != providers.end()) {
        const auto pairs = pairs_beside(attempts, baseline->second, s.metric);
        s.ratio = pairs.ratio();
        if (s.ratio) family[s] = PairedEvidence{pairs.log_ratios()};
      }
      summaries.push_back(std::move(s));
    }
    std::stable_partition(summaries.begin() + static_cast<std::ptrdiff_t>(first), summaries.end(),
                          [](const Summary& s) { return s.is_baseline; });
  }
  judge_together(summaries, family);
  for (auto& s : summaries) s.caveats = summary_caveats(s);
  return summaries;
}

Json summary_json(const std::string& run_id, const std::string& journal,
                  std::span<const Summary> summaries) {
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  Json results = Json::array();
  for (const Summary& s : summaries) {
    const Metric* metric = find_metric(s.metric);
    const bool is_time = metric != nullptr && metric->unit == "s";
    const Interval* interval = s.ratio && s.ratio->interval ? &*s.ratio->interval : nullptr;
    results.push_back({{"suite", s.suite},
                       {"case", s.case_name},
                       {"point", s.point},
                       {"provider", s.provider},
                       {"platform", s.platform},
                       {"status", name_of(s.status)},
                       {"rounds", s.rounds},
                       {"median_s", is_time ? value_to_json(s.median) : Json()},
                       {"ratio", s.ratio ? number_to_json(s.ratio->ratio) : Json()},
                       {"ratio_low", interval ? number_to_json(interval->low) : Json()},
                       {"ratio_high", interval ? number_to_json(interval->high) : Json()},
                       {"p_adjusted", s.p.judged ? number_to_json(s.p.adjusted) : Json()},
                       {"baseline", text(s.baseline)},
                       {"fraction_of_limit", value_to_json(s.fraction_of_limit)},
                       {"fidelity_error", value_to_json(s.fidelity_error)},
                       {"peak_rss", value_to_json(s.peak_rss)},
                       {"peak_device_memory", value_to_json(s.peak_device_memory)}});
  }
  return {{"run_id", text(run_id)}, {"journal", text(journal)}, {"results", std::move(results)}};
}

}  // namespace assay::lab
