// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/match.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "base/error.h"
#include "lab/beside/contents.h"
#include "lab/show/terminal/cells.h"
#include "lab/stats/quantile.h"

namespace assay::lab {
namespace {

void add_extremes(const RowPointers& rows, MatchSide& side) {
  std::vector<double> least, p95, samples;
  std::size_t attempts = 0, with_samples = 0;
  for (const Row* row : rows) {
    if (row->status != Status::kOk) continue;
    ++attempts;
    const auto keep = [&](const char* name, std::vector<double>& list) {
      if (const double value = ok_value(*row, name); !std::isnan(value)) {
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

MatchSide side_of(RowPointers rows, const SeriesId& key, const std::string& metric) {
  std::ranges::sort(rows, [](auto* x, auto* y) { return made_before(*x, *y); });
  leave_newest_contents(rows);
  MatchSide side;
  side.summary = summarise_series({key, rows.back()->provider}, rows, metric);
  for (const Row* row : rows) {
    if (const double value = ok_value(*row, metric); !std::isnan(value)) {
      side.values.push_back(value);
    }
  }
  side.rounds = values_by_round(rows, metric);
  add_extremes(rows, side);
  side.deterministic = std::ranges::all_of(rows, [](const Row* row) {
    return row->provenance.origin.value_or("measured") != "measured";
  });
  return side;
}

}  // namespace

std::string compared_metric(std::initializer_list<const RowPointers*> sides,
                            const std::string& asked) {
  if (!asked.empty()) {
    if (find_metric(asked) == nullptr) fail("unknown metric: '{}'", asked);
    return asked;
  }
  const Row* from = nullptr;
  std::string metric = "steady_time";
  for (const auto* rows : sides) {
    for (const Row* row : *rows) {
      const auto& text = row->provenance.primary_metric;
      if (!text || (from != nullptr && made_before(*row, *from))) continue;
      metric = *text;
      from = row;
    }
  }
  return metric;
}

std::vector<Match> match_rows(std::span<const Row> a, std::span<const Row> b,
                              const MatchOptions& options) {
  compared_metric({}, options.metric);  // refuses one that is not known, even for no rows
  std::map<SeriesId, std::pair<RowPointers, RowPointers>> groups;
  const auto key = [&](const Row& row) {
    return SeriesId{place_of(row), options.by_provider ? std::string() : row.provider};
  };
  for (const Row& row : a) groups[key(row)].first.push_back(&row);
  for (const Row& row : b) groups[key(row)].second.push_back(&row);
  std::vector<Match> matches;
  for (const auto& [at, rows] : groups) {
    Match match;
    match.key = at;
    match.metric = compared_metric({&rows.first, &rows.second}, options.metric);
    match.more_is_better = more_is_better(match.metric);
    if (!rows.first.empty()) match.a = side_of(rows.first, at, match.metric);
    if (!rows.second.empty()) match.b = side_of(rows.second, at, match.metric);
    matches.push_back(std::move(match));
  }
  return matches;
}

std::string_view name_of(Pairing pairing) {
  return pairing == Pairing::kPaired ? "paired" : "unpaired";
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
  PairedEvidence paired{pair_rounds(match.b->rounds, match.a->rounds).log_ratios()};
  for (double& d : paired.d) d *= sign;
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
