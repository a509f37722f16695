// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/site/site_history.h"

#include <cmath>
#include <map>
#include <vector>

#include "lab/stats/change_points.h"
#include "lab/stats/median_interval.h"
#include "lab/stats/quantile.h"
#include "lab/stats/unpaired_ratio.h"

namespace assay::lab {
namespace {

std::vector<double> ok_values(const Summary& s) {
  std::vector<double> values;
  for (const auto& attempt : s.attempts) {
    if (attempt.status == Status::kOk && !std::isnan(attempt.value)) {
      values.push_back(attempt.value);
    }
  }
  return values;
}

struct Series {
  std::vector<int> at;                      // summaries, by run
  std::vector<std::vector<double>> values;  // of the attempts of each
  ChangePoints changes;
};

// ln of the medians; a point counts the more the narrower its interval is.
std::vector<SeriesPoint> points_of(const Series& series) {
  std::vector<double> widths;
  for (const auto& values : series.values) {
    const auto interval = median_interval(values);
    widths.push_back(interval ? std::log(interval->high / interval->low) : NAN);
  }
  std::vector<double> known;
  for (const double width : widths) {
    if (std::isfinite(width) && width > 0) known.push_back(width);
  }
  const double typical = known.empty() ? NAN : median(known);
  std::vector<SeriesPoint> points;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    points.push_back({std::log(median(series.values[i])), weight_from_width(widths[i], typical)});
  }
  return points;
}

Json segments_of(const Series& series, std::span<const SeriesPoint> points, bool changed) {
  std::vector<std::size_t> starts = {0};
  if (changed) {
    for (const auto& change : series.changes.points) starts.push_back(change.index);
  }
  Json segments = Json::array();
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto last = (i + 1 < starts.size() ? starts[i + 1] : points.size()) - 1;
    double level = 0;
    if (starts.size() > 1) {
      const auto& c = series.changes.points;
      level = i == 0 ? c[0].before : c[i - 1].after;
    } else {
      std::vector<double> values;
      for (const auto& point : points) values.push_back(point.value);
      level = median(values);
    }
    segments.push_back({{"first", starts[i]}, {"last", last}, {"level", std::exp(level)}});
    segments.back()["relative"] =
        segments.back()["level"].get<double>() / segments.front()["level"].get<double>();
  }
  return segments;
}

// One point for each run: its median and interval, and both over the level of the first stretch, so
// that series of any size share a scale.
Json runs_of(const Series& series, const SiteIndex& index, double first_level) {
  Json points = Json::array();
  for (std::size_t i = 0; i < series.at.size(); ++i) {
    const double middle = median(series.values[i]);
    Json point = {{"run", index.summaries()[static_cast<std::size_t>(series.at[i])].run},
                  {"summary", series.at[i]},
                  {"value", middle},
                  {"relative", middle / first_level}};
    if (const auto interval = median_interval(series.values[i])) {
      point["low"] = interval->low;
      point["high"] = interval->high;
      point["relative_low"] = interval->low / first_level;
      point["relative_high"] = interval->high / first_level;
    }
    points.push_back(std::move(point));
  }
  return points;
}

Json last_step(const Series& series) {
  const auto& values = series.values;
  const auto step = unpaired_ratio(values[values.size() - 2], values.back());
  Json json = {{"ratio", step.ratio}, {"low", nullptr}, {"high", nullptr}};
  if (step.interval) {
    json["low"] = step.interval->low;
    json["high"] = step.interval->high;
  }
  return json;
}

}  // namespace

Json site_history(const SiteIndex& index) {
  std::map<SeriesKey, Series> by_key;
  for (std::size_t i = 0; i < index.summaries().size(); ++i) {
    const auto& s = index.summaries()[i];
    auto values = ok_values(s.summary);
    if (s.summary.status != Status::kOk || values.empty()) continue;
    auto& series = by_key[s.key];
    series.at.push_back(static_cast<int>(i));
    series.values.push_back(std::move(values));
  }
  std::vector<Series> all;
  for (auto& [key, series] : by_key) {
    if (series.at.size() >= 2) all.push_back(std::move(series));
  }
  std::vector<std::vector<SeriesPoint>> points;
  std::vector<ChangePoints> changes;
  for (const auto& series : all) {
    points.push_back(points_of(series));
    changes.push_back(change_points(points.back()));
  }
  const auto changed = changed_series(changes);

  Json history = Json::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].changes = changes[i];
    Json cuts = Json::array();
    if (changed[i]) {
      for (const auto& change : changes[i].points) {
        cuts.push_back({{"position", change.index},
                        {"p", change.p},
                        {"ratio", std::exp(change.after - change.before)}});
      }
    }
    Json segments = segments_of(all[i], points[i], changed[i]);
    const double first_level = segments[0]["level"].get<double>();
    history.push_back({{"points", runs_of(all[i], index, first_level)},
                       {"p", changes[i].p},
                       {"segments", std::move(segments)},
                       {"changes", std::move(cuts)},
                       {"last", last_step(all[i])}});
  }
  return history;
}

}  // namespace assay::lab
