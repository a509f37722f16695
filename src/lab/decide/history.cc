// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "lab/stats/paired_ratio.h"
#include "lab/stats/quantile.h"

namespace assay::lab {
namespace {

constexpr std::size_t kShortCommit = 7;

// What makes a point: a clean commit, or else a run.
std::string version_of(const Row& row) {
  const auto commit = row.provenance.commit.value_or("");
  const bool known = !commit.empty() && commit != "unknown";
  const bool dirty = row.provenance.dirty.value_or(false);
  return known && !dirty ? "commit " + commit : "run " + row.run_id;
}

HistoryPoint point_of(const RowPointers& rows, const std::string& metric, double confidence) {
  HistoryPoint point;
  const auto commit = rows.front()->provenance.commit.value_or("");
  if (commit != "unknown") point.commit = commit;
  point.dirty = rows.front()->provenance.dirty.value_or(false);
  std::vector<double> values;
  for (const Row* row : rows) {
    if (point.runs.empty() || point.runs.back() != row->run_id) point.runs.push_back(row->run_id);
    if (const double value = ok_value(*row, metric); !std::isnan(value)) values.push_back(value);
  }
  point.status = summarise_series({}, rows, metric).status;
  point.attempts = static_cast<int>(values.size());
  // A wrong result has no place in a history of times.
  if (values.empty() || point.status == Status::kWrongResult) return point;
  // Over ones: the median of the values, with the exact interval that its logarithms give.
  const auto level = paired_ratio(values, std::vector<double>(values.size(), 1.0), confidence);
  point.median = level.ratio;
  point.interval = level.interval;
  return point;
}

// The points that have a value, as the change-point search takes them.
Series series_of(const HistorySeries& series, std::vector<std::size_t>& index) {
  std::vector<double> widths;
  const auto width = [](const HistoryPoint& p) {
    return p.interval ? std::log(p.interval->high / p.interval->low) : 0.0;
  };
  for (const auto& p : series.points) {
    if (p.median && width(p) > 0) widths.push_back(width(p));
  }
  const double typical = widths.empty() ? 0 : median(widths);
  Series points;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const auto& p = series.points[i];
    if (!p.median) continue;
    points.push_back({std::log(*p.median), weight_from_width(width(p), typical)});
    index.push_back(i);
  }
  return points;
}

void add_segments(HistorySeries& series, const ChangePoints& found,
                  const std::vector<std::size_t>& index) {
  if (index.empty()) return;
  std::size_t first = 0;
  for (const auto& change : found.points) {
    series.changes.push_back({index[change.index - 1], index[change.index],
                              std::exp(change.after - change.before), change.p});
    series.segments.push_back({index[first], index[change.index - 1], std::exp(change.before)});
    first = change.index;
  }
  double level = 0;
  if (found.points.empty()) {
    std::vector<double> values;
    for (const auto i : index) values.push_back(*series.points[i].median);
    level = median(values);
  } else {
    level = std::exp(found.points.back().after);
  }
  series.segments.push_back({index[first], index.back(), level});
}

}  // namespace

std::string HistoryPoint::label() const {
  if (commit.empty()) return runs.empty() ? std::string() : runs.front();
  return commit.substr(0, kShortCommit) + (dirty ? "+" : "");
}

bool point_matches(const Json& point, const Json& wanted) {
  return std::ranges::all_of(wanted.items(), [&](const auto& item) {
    return point.contains(item.key()) && point[item.key()] == item.value();
  });
}

std::vector<HistorySeries> history(std::span<const Row> rows, const HistoryOptions& options) {
  std::map<SeriesId, RowPointers> by_key;
  for (const Row& row : rows) {
    if (!options.case_name.empty() && row.case_name != options.case_name) continue;
    if (options.provider && row.provider != *options.provider) continue;
    if (options.point && !point_matches(row.point, *options.point)) continue;
    by_key[series_of(row)].push_back(&row);
  }
  std::vector<HistorySeries> all;
  std::vector<Series> values;
  std::vector<std::vector<std::size_t>> indices;
  compared_metric({}, options.metric);  // refuses one that is not known, even for no rows
  for (auto& [key, attempts] : by_key) {
    std::ranges::sort(attempts, [](auto* a, auto* b) { return made_before(*a, *b); });
    HistorySeries series;
    series.key = key;
    series.metric = compared_metric({&attempts}, options.metric);
    series.more_is_better = more_is_better(series.metric);
    std::map<std::string, std::size_t> known;
    std::vector<RowPointers> versions;
    for (const Row* row : attempts) {
      const auto [it, fresh] = known.try_emplace(version_of(*row), versions.size());
      if (fresh) versions.emplace_back();
      versions[it->second].push_back(row);
    }
    for (const auto& version : versions) {
      series.points.push_back(point_of(version, series.metric, options.confidence));
    }
    auto& index = indices.emplace_back();
    values.push_back(series_of(series, index));
    all.push_back(std::move(series));
  }
  const auto changes = change_points(values, options.change);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].p = changes[i].p;
    add_segments(all[i], changes[i], indices[i]);
  }
  return all;
}

}  // namespace assay::lab
