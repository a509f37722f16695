// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/site_index.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "lab/record/provider.h"

namespace assay::lab {

void SiteIndex::number(const SeriesId& s) {
  const auto [of_case, new_case] =
      case_ids_.try_emplace({s.suite, s.case_name}, static_cast<int>(cases_.size()));
  if (new_case) cases_.push_back({s.suite, s.case_name});
  const auto point = std::pair(of_case->second, canonical_json(s.point));
  const bool new_point = point_ids_.try_emplace(point, static_cast<int>(points_.size())).second;
  if (new_point) points_.push_back({of_case->second, s.point});
  const int machines = static_cast<int>(machines_.size());
  if (machine_ids_.try_emplace(s.fingerprint, machines).second) machines_.push_back(s.fingerprint);
}

SeriesKey SiteIndex::key_of(const SeriesId& s) const {
  const int of_case = case_ids_.at({s.suite, s.case_name});
  return {of_case,
          point_ids_.at({of_case, canonical_json(s.point)}),
          s.provider,
          s.platform,
          machine_ids_.at(s.fingerprint),
          s.cores,
          s.isolation};
}

namespace {

// The series of one run in which a point served such comparisons alone: every plain provider there
// also ran under another name.
std::set<SeriesKey> self_series(const std::map<SeriesKey, std::vector<int>>& series) {
  const auto named = [](SeriesKey key, std::string_view provider) {
    key.provider = provider;
    return key;
  };
  std::set<SeriesKey> sides;                  // under their plain names
  std::map<SeriesKey, bool> has_a_plain_one;  // by place
  for (const auto& [key, rows] : series) {
    if (!side_of(key.provider).empty()) sides.insert(named(key, provider_of(key.provider)));
  }
  for (const auto& [key, rows] : series) {
    const bool plain = side_of(key.provider).empty() && !sides.contains(key);
    has_a_plain_one[named(key, "")] |= plain;
  }
  std::set<SeriesKey> self;
  for (const auto& [key, rows] : series) {
    if (!side_of(key.provider).empty() || !has_a_plain_one.at(named(key, ""))) self.insert(key);
  }
  return self;
}

}  // namespace

SiteIndex::SiteIndex(std::vector<Row> rows, const CaseFactsByName& cases) : rows_(std::move(rows)) {
  std::ranges::sort(rows_, made_before);
  std::map<SeriesKey, std::size_t> newest;  // summary of the newest run that says something
  for (std::size_t first = 0; first < rows_.size();) {
    std::size_t last = first;
    std::map<SeriesKey, std::vector<int>> attempts;
    for (; last < rows_.size() && rows_[last].run_id == rows_[first].run_id; ++last) {
      const auto series = series_of(rows_[last]);
      number(series);
      attempts[key_of(series)].push_back(static_cast<int>(last));
    }
    const int run = static_cast<int>(runs_.size());
    runs_.push_back({rows_[first].run_id, first, last - first});
    const auto self = self_series(attempts);
    for (auto& s : summarise(std::span(rows_).subspan(first, last - first), cases)) {
      IndexedSummary indexed;
      indexed.key = key_of(s);
      indexed.run = run;
      const auto found = attempts.find(indexed.key);
      check(found != attempts.end(), "a summary is of rows of its run");
      indexed.rows = std::move(found->second);
      indexed.self = self.contains(indexed.key);
      // A run whose attempts are all void says nothing, and a comparison with itself nothing about
      // the case, unless there is no other.
      const auto [it, none_yet] = newest.try_emplace(indexed.key, summaries_.size());
      const auto says = [](const IndexedSummary& one, Status status) {
        return std::pair(!is_void(status), !one.self);
      };
      const auto* before = summaries_.data() + it->second;
      if (none_yet || says(indexed, s.status) >= says(*before, before->summary.status)) {
        it->second = summaries_.size();
      }
      indexed.summary = std::move(s);
      summaries_.push_back(std::move(indexed));
    }
    first = last;
  }
  for (const auto& [key, index] : newest) summaries_[index].latest = true;
}

}  // namespace assay::lab
