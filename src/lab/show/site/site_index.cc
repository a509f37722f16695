// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/site_index.h"

#include <algorithm>
#include <tuple>

#include "base/error.h"

namespace assay::lab {
namespace {

// The number of a name, a new one for a new name.
template <typename Map, typename Key>
std::pair<int, bool> number_of(Map& ids, const Key& key) {
  const auto [it, first] = ids.try_emplace(key, static_cast<int>(ids.size()));
  return {it->second, first};
}

}  // namespace

SeriesKey SiteIndex::key_of(const SeriesId& s) {
  SeriesKey key;
  bool first = false;
  std::tie(key.case_index, first) = number_of(case_ids_, std::pair(s.suite, s.case_name));
  if (first) cases_.push_back({s.suite, s.case_name});
  std::tie(key.point, first) =
      number_of(point_ids_, std::pair(key.case_index, canonical_json(s.point)));
  if (first) points_.push_back({key.case_index, s.point});
  std::tie(key.machine, first) = number_of(machine_ids_, s.fingerprint);
  if (first) machines_.push_back(s.fingerprint);
  key.provider = s.provider;
  key.platform = s.platform;
  key.cores = s.cores;
  key.isolation = s.isolation;
  return key;
}

std::optional<SeriesKey> SiteIndex::find(const SeriesId& s) const {
  const auto known_case = case_ids_.find({s.suite, s.case_name});
  const auto known_machine = machine_ids_.find(s.fingerprint);
  if (known_case == case_ids_.end() || known_machine == machine_ids_.end()) return std::nullopt;
  const auto known_point = point_ids_.find({known_case->second, canonical_json(s.point)});
  if (known_point == point_ids_.end()) return std::nullopt;
  return SeriesKey{known_case->second, known_point->second,   s.provider,
                   s.platform,         known_machine->second, s.cores,
                   s.isolation};
}

SiteIndex::SiteIndex(std::vector<Row> rows, const CaseFactsByName& cases) : rows_(std::move(rows)) {
  std::ranges::sort(rows_, made_before);
  std::map<SeriesKey, std::size_t> newest;  // summary of the newest run that says something
  for (std::size_t first = 0; first < rows_.size();) {
    std::size_t last = first;
    std::map<SeriesKey, std::vector<int>> attempts;
    for (; last < rows_.size() && rows_[last].run_id == rows_[first].run_id; ++last) {
      const Row& row = rows_[last];
      attempts[key_of(series_of(row))].push_back(static_cast<int>(last));
    }
    const int run = static_cast<int>(runs_.size());
    runs_.push_back({rows_[first].run_id, first, last - first});
    for (auto& s : summarise(std::span(rows_).subspan(first, last - first), cases)) {
      IndexedSummary indexed;
      indexed.key = key_of(s);
      indexed.run = run;
      const auto found = attempts.find(indexed.key);
      check(found != attempts.end(), "a summary is of rows of its run");
      indexed.rows = std::move(found->second);
      // A run whose attempts are all void says nothing, unless there is no other.
      const auto [it, none_yet] = newest.try_emplace(indexed.key, summaries_.size());
      if (none_yet || !is_void(s.status) || is_void(summaries_[it->second].summary.status)) {
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
