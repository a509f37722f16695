// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/site/site_index.h"

#include <algorithm>
#include <tuple>

#include "base/error.h"

namespace assay::lab {
namespace {

bool made_before(const Row& a, const Row& b) {
  return std::tie(a.run_id, a.order, a.round, a.try_number, a.attempt_id) <
         std::tie(b.run_id, b.order, b.round, b.try_number, b.attempt_id);
}

// The number of a name, a new one for a new name.
template <typename Map, typename Key>
std::pair<int, bool> number_of(Map& ids, const Key& key) {
  const auto [it, first] = ids.try_emplace(key, static_cast<int>(ids.size()));
  return {it->second, first};
}

}  // namespace

SeriesKey SiteIndex::key_of(const std::string& suite, const std::string& case_name,
                            const Json& point, const std::string& provider,
                            const std::string& platform, const std::string& fingerprint, int cores,
                            const std::string& isolation) {
  SeriesKey key;
  bool first = false;
  std::tie(key.case_index, first) = number_of(case_ids_, std::pair(suite, case_name));
  if (first) cases_.push_back({suite, case_name});
  std::tie(key.point, first) =
      number_of(point_ids_, std::pair(key.case_index, canonical_json(point)));
  if (first) points_.push_back({key.case_index, point});
  std::tie(key.machine, first) = number_of(machine_ids_, fingerprint);
  if (first) machines_.push_back(fingerprint);
  key.provider = provider;
  key.platform = platform;
  key.cores = cores;
  key.isolation = isolation;
  return key;
}

std::optional<SeriesKey> SiteIndex::find(const std::string& suite, const std::string& case_name,
                                         const Json& point, const std::string& provider,
                                         const std::string& platform,
                                         const std::string& fingerprint, int cores,
                                         const std::string& isolation) const {
  const auto known_case = case_ids_.find({suite, case_name});
  const auto known_machine = machine_ids_.find(fingerprint);
  if (known_case == case_ids_.end() || known_machine == machine_ids_.end()) return std::nullopt;
  const auto known_point = point_ids_.find({known_case->second, canonical_json(point)});
  if (known_point == point_ids_.end()) return std::nullopt;
  return SeriesKey{known_case->second, known_point->second,   provider,
                   platform,           known_machine->second, cores,
                   isolation};
}

SiteIndex::SiteIndex(std::vector<Row> rows, const CaseFactsByName& cases) : rows_(std::move(rows)) {
  std::ranges::sort(rows_, made_before);
  std::map<SeriesKey, std::size_t> newest;  // summary of the newest run that says something
  for (std::size_t first = 0; first < rows_.size();) {
    std::size_t last = first;
    std::map<SeriesKey, std::vector<int>> attempts;
    for (; last < rows_.size() && rows_[last].run_id == rows_[first].run_id; ++last) {
      const Row& row = rows_[last];
      attempts[key_of(row.suite, row.case_name, row.point, row.provider, row.platform,
                      row.machine.fingerprint, row.cores, row.provenance.isolation.value_or(""))]
          .push_back(static_cast<int>(last));
    }
    const int run = static_cast<int>(runs_.size());
    runs_.push_back({rows_[first].run_id, first, last - first});
    for (auto& s : summarise(std::span(rows_).subspan(first, last - first), cases)) {
      IndexedSummary indexed;
      indexed.key = key_of(s.suite, s.case_name, s.point, s.provider, s.platform, s.fingerprint,
                           s.cores, s.isolation);
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
