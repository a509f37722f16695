// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/site_parts.h"

#include <cmath>
#include <map>
#include <vector>

#include "lab/decide/history.h"
#include "lab/stats/family.h"
#include "lab/stats/unpaired_ratio.h"

namespace assay::lab {
namespace {

class HistoryWriter {
 public:
  explicit HistoryWriter(const SiteIndex& index) : index_(index) {
    for (std::size_t i = 0; i < index.runs().size(); ++i) {
      runs_[index.runs()[i].id] = static_cast<int>(i);
    }
    for (std::size_t i = 0; i < index.summaries().size(); ++i) {
      const auto& s = index.summaries()[i];
      summaries_[{s.key, s.run}] = static_cast<int>(i);
    }
  }

  // Nothing for a series with fewer than two values.
  Json write(const HistorySeries& series) {
    const auto key = index_.key_of(series.key);
    std::vector<std::size_t> position(series.points.size());
    std::vector<const HistoryPoint*> known;
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      position[i] = known.size();
      if (series.points[i].median) known.push_back(&series.points[i]);
    }
    if (known.size() < 2) return {};
    const double first_level = series.segments.front().level;
    Json points = Json::array(), segments = Json::array(), changes = Json::array();
    for (const auto* point : known) points.push_back(point_json(*point, key, first_level));
    for (const auto& segment : series.segments) {
      segments.push_back({{"first", position[segment.first]},
                          {"last", position[segment.last]},
                          {"level", segment.level},
                          {"relative", segment.level / first_level}});
    }
    for (const auto& change : series.changes) {
      changes.push_back(
          {{"position", position[change.after]}, {"p", change.p}, {"ratio", change.ratio}});
    }
    return {{"points", std::move(points)},
            {"p", series.p},
            {"segments", std::move(segments)},
            {"changes", std::move(changes)},
            {"last", last_step(*known[known.size() - 2], *known.back(), key)}};
  }

  // For each series that was written, whether its last step is one: they are one family.
  std::vector<bool> judge_last_steps() const {
    const auto p = judge_family(last_steps_);
    std::vector<bool> differs;
    for (std::size_t i = 0; i < p.size(); ++i) {
      differs.push_back(is_difference(
          what_is_shown(last_intervals_[i], p[i], FamilySettings{}.alpha, kBetweenRuns)));
    }
    return differs;
  }

 private:
  Json point_json(const HistoryPoint& point, const SeriesKey& key, double first_level) const {
    Json runs = Json::array();
    for (const auto& run : point.runs) runs.push_back(runs_.at(run));
    Json json = {{"run", runs[0]},
                 {"summary", summaries_.at({key, runs[0].get<int>()})},
                 {"runs", std::move(runs)},
                 {"value", *point.median},
                 {"relative", *point.median / first_level}};
    if (point.interval) {
      json["low"] = point.interval->low;
      json["high"] = point.interval->high;
      json["relative_low"] = point.interval->low / first_level;
      json["relative_high"] = point.interval->high / first_level;
    }
    return json;
  }

  std::vector<double> values_of(const HistoryPoint& point, const SeriesKey& key) const {
    std::vector<double> values;
    for (const auto& run : point.runs) {
      const auto at = summaries_.at({key, runs_.at(run)});
      const auto more =
          index_.summaries()[static_cast<std::size_t>(at)].summary.values(Status::kOk);
      values.insert(values.end(), more.begin(), more.end());
    }
    return values;
  }

  Json last_step(const HistoryPoint& before, const HistoryPoint& after, const SeriesKey& key) {
    const auto a = values_of(before, key), b = values_of(after, key);
    last_steps_.emplace_back(UnpairedEvidence{b, a});
    last_intervals_.emplace_back();
    if (a.empty() || b.empty()) return nullptr;
    const auto step = unpaired_ratio(a, b);
    last_intervals_.back() = step.interval;
    Json json = {{"ratio", step.ratio}, {"low", nullptr}, {"high", nullptr}};
    if (step.interval) {
      json["low"] = step.interval->low;
      json["high"] = step.interval->high;
    }
    return json;
  }

  const SiteIndex& index_;
  std::vector<Evidence> last_steps_;  // of the series written so far
  std::vector<std::optional<Interval>> last_intervals_;
  std::map<std::string, int> runs_;
  std::map<std::pair<SeriesKey, int>, int> summaries_;
};

}  // namespace

Json site_history(const SiteIndex& index) {
  HistoryWriter writer(index);
  Json all = Json::array();
  for (const auto& series : history(index.rows(), {})) {
    if (Json json = writer.write(series); !json.is_null()) all.push_back(std::move(json));
  }
  const auto differs = writer.judge_last_steps();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (auto& last = all[i]["last"]; last.is_object()) last["differs"] = bool{differs[i]};
  }
  return all;
}

}  // namespace assay::lab
