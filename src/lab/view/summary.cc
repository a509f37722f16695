// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/view/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "lab/record/metrics.h"
#include "lab/stats/quantile.h"
#include "lab/view/caveats.h"

namespace assay::lab {
namespace {

// What two attempts must share for one to be a measure of the other.
struct Place {
  std::string suite, case_name;
  Json point;
  std::string platform, fingerprint;
  int cores;
  std::string isolation;

  // By value, so that n = 64 comes before n = 512.
  bool operator<(const Place& b) const {
    const auto tie = [](const Place& p) {
      return std::tie(p.suite, p.case_name, p.point, p.platform, p.fingerprint, p.cores,
                      p.isolation);
    };
    return tie(*this) < tie(b);
  }
};

using Rows = std::vector<const Row*>;  // in the order they were made
using Providers = std::map<std::string, Rows>;

Place place_of(const Row& row) {
  return {row.suite,
          row.case_name,
          row.point,
          row.platform,
          row.machine.fingerprint,
          row.cores,
          row.provenance.isolation.value_or("")};
}

// Lexical order of runs is time order; within a run, `order` is.
bool made_before(const Row* a, const Row* b) {
  return std::tie(a->run_id, a->order, a->round, a->try_number, a->attempt_id) <
         std::tie(b->run_id, b->order, b->round, b->try_number, b->attempt_id);
}

// The newest row's word, or the caller's.
CaseFacts facts_of(const std::string& case_name, const Providers& providers,
                   const CaseFactsByName& cases) {
  CaseFacts facts;
  if (const auto known = cases.find(case_name); known != cases.end()) facts = known->second;
  const Row *baseline_from = nullptr, *metric_from = nullptr;
  for (const auto& [provider, rows] : providers) {
    for (const Row* row : rows) {
      const auto newer = [&](const Row* than) { return than == nullptr || made_before(than, row); };
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

// The attempt's value, or NaN where there is none that a ratio or a median could use.
double value_of(const Row& row, const std::string& metric) {
  const double value = is_measured(row.status) ? row.metric_or_nan(metric) : NAN;
  return std::isfinite(value) && value > 0 ? value : std::numeric_limits<double>::quiet_NaN();
}

constexpr std::array<Status, 10> kMostTellingFirst = {
    Status::kWrongResult, Status::kCrashed,    Status::kOutOfMemory, Status::kTimeout,
    Status::kFailed,      Status::kOk,         Status::kEnvMissing,  Status::kSkipped,
    Status::kExcluded,    Status::kInterrupted};

void count_statuses(const Rows& rows, Summary& s) {
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

std::optional<double> median_of(const Rows& rows, Status status, const std::string& metric) {
  std::vector<double> values;
  for (const Row* row : rows) {
    if (row->status != status) continue;
    if (const double value = value_of(*row, metric); !std::isnan(value)) values.push_back(value);
  }
  if (values.empty()) return std::nullopt;
  return median(values);
}

// The larger; NaN, which says that something is badly wrong, is larger than any number.
void raise_to(std::optional<double>& worst, std::optional<double> value) {
  if (!value || (worst && std::isnan(*worst))) return;
  if (!worst || std::isnan(*value) || *value > *worst) worst = value;
}

void measure(const Rows& rows, Summary& s) {
  s.median = median_of(rows, Status::kOk, s.metric);
  if (!s.median) s.median = median_of(rows, Status::kWrongResult, s.metric);
  s.fraction_of_limit = median_of(rows, Status::kOk, "fraction_of_limit");
  for (const Row* row : rows) {
    s.attempts.push_back({row->status, value_of(*row, s.metric)});
    if (is_void(row->status)) continue;
    if (row->fidelity) raise_to(s.fidelity_error, row->fidelity->error);
    s.unjudged |=
        row->status == Status::kOk && row->fidelity && row->fidelity->status == Fidelity::kNoOracle;
    for (const char* metric : {"peak_rss_start", "peak_rss_cold", "peak_rss_steady"}) {
      if (const double bytes = row->metric_or_nan(metric); std::isfinite(bytes)) {
        raise_to(s.peak_rss, bytes);
      }
    }
    if (const auto& reason = row->provenance.unequal_work) s.unequal_work = *reason;
  }
}

// The value of each round that was ok; of the last try, should there be several.
std::map<std::pair<std::string, int>, double> values_by_round(const Rows& rows,
                                                              const std::string& metric) {
  std::map<std::pair<std::string, int>, double> values;
  for (const Row* row : rows) {
    const double value = value_of(*row, metric);
    if (row->status == Status::kOk && !std::isnan(value)) values[{row->run_id, row->round}] = value;
  }
  return values;
}

std::optional<PairedRatio> ratio_of(const Rows& rows, const Rows& baseline,
                                    const std::string& metric) {
  const auto wrong = [](const Row* row) { return row->status == Status::kWrongResult; };
  if (std::ranges::any_of(rows, wrong) || std::ranges::any_of(baseline, wrong)) return std::nullopt;
  const auto reference = values_by_round(baseline, metric);
  std::vector<double> a, b;
  for (const auto& [round, value] : values_by_round(rows, metric)) {
    if (const auto it = reference.find(round); it != reference.end()) {
      a.push_back(value);
      b.push_back(it->second);
    }
  }
  if (a.empty()) return std::nullopt;
  return paired_ratio(a, b);
}

}  // namespace

std::vector<Summary> summarise(std::span<const Row> rows, const CaseFactsByName& cases) {
  std::map<Place, Providers> places;
  for (const Row& row : rows) places[place_of(row)][row.provider].push_back(&row);

  std::vector<Summary> summaries;
  for (auto& [place, providers] : places) {
    for (auto& [provider, attempts] : providers) std::ranges::sort(attempts, made_before);
    const auto facts = facts_of(place.case_name, providers, cases);
    const auto baseline = providers.find(facts.baseline);
    const auto first = summaries.size();
    for (const auto& [provider, attempts] : providers) {
      Summary s;
      s.suite = place.suite;
      s.case_name = place.case_name;
      s.point = place.point;
      s.provider = provider;
      s.platform = place.platform;
      s.fingerprint = place.fingerprint;
      s.cores = place.cores;
      s.isolation = place.isolation;
      s.metric = facts.primary_metric;
      s.baseline = facts.baseline;
      s.is_baseline = provider == facts.baseline;
      count_statuses(attempts, s);
      measure(attempts, s);
      if (s.is_baseline) {
        if (s.status == Status::kOk) s.ratio = PairedRatio{s.rounds, 1, std::nullopt};
      } else if (baseline != providers.end()) {
        s.ratio = ratio_of(attempts, baseline->second, s.metric);
      }
      s.caveats = summary_caveats(s);
      summaries.push_back(std::move(s));
    }
    std::stable_partition(summaries.begin() + static_cast<std::ptrdiff_t>(first), summaries.end(),
                          [](const Summary& s) { return s.is_baseline; });
  }
  return summaries;
}

Json summary_json(const std::string& run_id, const std::string& journal,
                  std::span<const Summary> summaries) {
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  const auto number = [](const std::optional<double>& value) {
    return value ? number_to_json(*value) : Json();
  };
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
                       {"median_s", is_time ? number(s.median) : Json()},
                       {"ratio", s.ratio ? number_to_json(s.ratio->ratio) : Json()},
                       {"ratio_low", interval ? number_to_json(interval->low) : Json()},
                       {"ratio_high", interval ? number_to_json(interval->high) : Json()},
                       {"baseline", text(s.baseline)},
                       {"fraction_of_limit", number(s.fraction_of_limit)},
                       {"fidelity_error", number(s.fidelity_error)},
                       {"peak_rss", number(s.peak_rss)}});
  }
  return {{"run_id", text(run_id)}, {"journal", text(journal)}, {"results", std::move(results)}};
}

}  // namespace assay::lab
