// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/match.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "base/error.h"
#include "lab/stats/quantile.h"
#include "lab/view/cells.h"

namespace assay::lab {
namespace {

auto tie(const MatchKey& k) {
  return std::tie(k.suite, k.case_name, k.point, k.platform, k.fingerprint, k.cores, k.isolation,
                  k.provider);
}

bool made_before(const Row* a, const Row* b) {
  return std::tie(a->run_id, a->order, a->round, a->try_number, a->attempt_id) <
         std::tie(b->run_id, b->order, b->round, b->try_number, b->attempt_id);
}

bool is_usable(const Row& row, double value) {
  return row.status == Status::kOk && std::isfinite(value) && value > 0;
}

// Rounds pair only if their attempts were made in turn.
bool is_interleaved(const Row& row) { return row.provenance.interleaved.value_or(true); }

void add_extremes(const std::vector<const Row*>& rows, MatchSide& side) {
  std::vector<double> least, p95, samples;
  std::size_t attempts = 0, with_samples = 0;
  for (const Row* row : rows) {
    if (row->status != Status::kOk) continue;
    ++attempts;
    const auto keep = [&](const char* name, std::vector<double>& list) {
      if (const double value = row->metric_or_nan(name); is_usable(*row, value)) {
        list.push_back(value);
      }
    };
    keep("steady_time_min", least);
    keep("steady_time_p95", p95);
    const auto& steady = row->samples.steady_s();
    with_samples += !steady.empty();
    samples.insert(samples.end(), steady.begin(), steady.end());
  }
  if (!least.empty()) side.fastest = quantile(least, 0);
  if (attempts > 0 && with_samples == attempts) {
    side.p95 = quantile(samples, 0.95);
  } else if (!p95.empty()) {
    side.p95 = median(p95);
  }
}

MatchSide side_of(std::vector<const Row*> rows, const std::string& metric) {
  std::ranges::sort(rows, made_before);
  std::vector<Row> copies;
  for (const Row* row : rows) {
    copies.push_back(*row);
    // One metric for all that is shown of a match, and one summary whatever the rows are called.
    copies.back().provenance.primary_metric = metric;
    copies.back().provider = rows.back()->provider;
  }
  auto summaries = summarise(copies);
  check(summaries.size() == 1, "the rows of a key have one summary");
  MatchSide side;
  side.summary = std::move(summaries.front());
  for (const Row* row : rows) {
    const double value = row->metric_or_nan(metric);
    if (!is_usable(*row, value)) continue;
    side.values.push_back(value);
    if (is_interleaved(*row)) side.rounds[{row->run_id, row->round}] = value;
  }
  add_extremes(rows, side);
  side.deterministic = std::ranges::all_of(rows, [](const Row* row) {
    return row->provenance.origin.value_or("measured") != "measured";
  });
  return side;
}

// The word of the newest row that has one.
std::string primary_metric(const std::vector<const Row*>& a, const std::vector<const Row*>& b) {
  const Row* from = nullptr;
  std::string metric = "steady_time";
  for (const auto* rows : {&a, &b}) {
    for (const Row* row : *rows) {
      const auto& text = row->provenance.primary_metric;
      if (!text || (from != nullptr && made_before(row, from))) continue;
      metric = *text;
      from = row;
    }
  }
  return metric;
}

}  // namespace

bool MatchKey::operator<(const MatchKey& other) const { return tie(*this) < tie(other); }

Json MatchKey::to_json() const {
  return {{"suite", suite},       {"case", case_name},
          {"point", point},       {"provider", provider.empty() ? Json() : Json(provider)},
          {"platform", platform}, {"fingerprint", fingerprint},
          {"cores", cores},       {"isolation", isolation.empty() ? Json() : Json(isolation)}};
}

MatchKey match_key(const Row& row, bool with_provider) {
  return {row.suite,    row.case_name,
          row.point,    with_provider ? row.provider : std::string(),
          row.platform, row.machine.fingerprint,
          row.cores,    row.provenance.isolation.value_or("")};
}

std::vector<Match> match_rows(std::span<const Row> a, std::span<const Row> b,
                              const MatchOptions& options) {
  if (!options.metric.empty() && find_metric(options.metric) == nullptr) {
    fail("unknown metric: '{}'", options.metric);
  }
  using Rows = std::vector<const Row*>;
  std::map<MatchKey, std::pair<Rows, Rows>> groups;
  const auto key = [&](const Row& row) { return match_key(row, !options.by_provider); };
  for (const Row& row : a) groups[key(row)].first.push_back(&row);
  for (const Row& row : b) groups[key(row)].second.push_back(&row);
  std::vector<Match> matches;
  for (const auto& [at, rows] : groups) {
    Match match;
    match.key = at;
    match.metric =
        options.metric.empty() ? primary_metric(rows.first, rows.second) : options.metric;
    const Metric* metric = find_metric(match.metric);
    match.more_is_better = metric != nullptr && metric->direction == Direction::kHigherIsBetter;
    if (!rows.first.empty()) match.a = side_of(rows.first, match.metric);
    if (!rows.second.empty()) match.b = side_of(rows.second, match.metric);
    matches.push_back(std::move(match));
  }
  return matches;
}

std::string median_text(const std::optional<MatchSide>& side, const std::string& metric) {
  return side && side->summary.median ? format_metric(*side->summary.median, metric) : "–";
}

std::optional<MatchEvidence> evidence_of(const Match& match) {
  const auto sound = [](const std::optional<MatchSide>& side) {
    return side && side->summary.status == Status::kOk && !side->values.empty();
  };
  if (!sound(match.a) || !sound(match.b)) return std::nullopt;
  const double sign = match.more_is_better ? -1 : 1;
  MatchEvidence evidence;
  PairedEvidence paired;
  for (const auto& [round, value] : match.b->rounds) {
    const auto it = match.a->rounds.find(round);
    if (it != match.a->rounds.end()) {
      paired.d.push_back(sign * (std::log(value) - std::log(it->second)));
    }
  }
  if (!paired.d.empty()) {
    const auto used = static_cast<int>(paired.d.size());
    evidence.pairing = Pairing::kPaired;
    evidence.a_unused = static_cast<int>(match.a->values.size()) - used;
    evidence.b_unused = static_cast<int>(match.b->values.size()) - used;
    evidence.values = std::move(paired);
    return evidence;
  }
  UnpairedEvidence unpaired{match.b->values, match.a->values};
  if (match.more_is_better) {
    for (auto* values : {&unpaired.current, &unpaired.baseline}) {
      for (double& value : *values) value = 1 / value;
    }
  }
  evidence.values = std::move(unpaired);
  return evidence;
}

}  // namespace assay::lab
