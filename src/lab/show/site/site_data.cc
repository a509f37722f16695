// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/site_data.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/names.h"
#include "base/text.h"
#include "lab/beside/caveats.h"
#include "lab/record/fields.h"
#include "lab/record/metrics.h"
#include "lab/show/site/row_columns.h"
#include "lab/show/site/site_parts.h"

namespace assay::lab {
namespace {

Json runs_json(const SiteIndex& index) {
  Json runs = Json::array();
  for (const auto& run : index.runs()) {
    const Row& first = index.rows()[run.first];
    const Row& last = index.rows()[run.first + run.count - 1];
    runs.push_back({{"id", run.id},
                    {"rows", run.count},
                    {"first", run.first},
                    {"machine", index.machine_of(first)},
                    {"time", value_to_json(first.provenance.time_start)},
                    {"end", value_to_json(last.provenance.time_end)},
                    {"commit", value_to_json(first.provenance.commit)},
                    {"branch", value_to_json(first.provenance.branch)},
                    {"label", value_to_json(first.provenance.label)},
                    {"dirty", first.provenance.dirty.value_or(false)}});
  }
  return runs;
}

constexpr auto kMetricKindNames = make_names<MetricKind>({{MetricKind::kTime, "time"},
                                                          {MetricKind::kRate, "rate"},
                                                          {MetricKind::kFraction, "fraction"},
                                                          {MetricKind::kBytes, "bytes"},
                                                          {MetricKind::kCount, "count"},
                                                          {MetricKind::kEnergy, "energy"}});

Json metric_json(const std::string& name) {
  const Metric* metric = find_metric(name);
  return {{"unit", metric == nullptr ? "" : std::string(metric->unit)},
          {"kind", metric == nullptr ? "count" : kMetricKindNames[metric->kind]},
          {"description", metric == nullptr ? "" : std::string(metric->description)}};
}

// The primary metric and the baseline of each case, as its newest summary has them; what was
// compared with itself says so only where there is nothing else.
Json cases_json(const SiteIndex& index) {
  Json cases = Json::array();
  std::vector<bool> about_itself;
  for (const auto& named : index.cases()) {
    cases.push_back({{"suite", named.suite}, {"name", named.name}});
    about_itself.push_back(true);
  }
  for (const auto& s : index.summaries()) {
    const auto at = static_cast<std::size_t>(s.key.case_index);
    if (s.self && !about_itself[at]) continue;
    about_itself[at] = s.self;
    Json& json = cases[at];
    json["baseline"] = s.summary.baseline;
    json["metric"] = s.summary.metric;
    json.update(metric_json(s.summary.metric));
    json["more_is_better"] = more_is_better(s.summary.metric);
    for (const int row : s.rows) {
      for (const auto& [name, value] : index.rows()[static_cast<std::size_t>(row)].metrics) {
        if (is_followed(name) && !json["more"].contains(name))
          json["more"][name] = metric_json(name);
      }
    }
  }
  return cases;
}

Json points_json(const SiteIndex& index) {
  Json points = Json::array();
  for (const auto& point : index.points()) {
    Json values = Json::array();
    for (const auto& [name, value] : point.values.items()) {
      values.push_back(Json::array({name, value}));
    }
    points.push_back({{"case", point.case_index}, {"values", std::move(values)}});
  }
  return points;
}

// In place, all text that the document holds. Keys are ours.
void make_printable(Json& json) {
  if (json.is_string()) {
    auto& text = json.get_ref<std::string&>();
    text = printable(text);
  } else if (json.is_structured()) {
    for (auto& item : json) make_printable(item);
  }
}

}  // namespace

void check_commit_url(const std::string& url) {
  const bool scheme = url.starts_with("https://") || url.starts_with("http://");
  const auto place = url.find("{commit}");
  auto rest = url;
  if (place != std::string::npos) rest.erase(place, std::string_view("{commit}").size());
  const bool plain = std::ranges::all_of(rest, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-._~:/?#@!$&()*+,;=%").find(static_cast<char>(c)) !=
               std::string_view::npos;
  });
  if (!scheme || place == std::string::npos || !plain) {
    fail("--commit-url: an address such as https://example.org/commit/{{commit}}, got '{}'",
         printable(url));
  }
}

Json site_data(SiteInput input) {
  if (!input.commit_url.empty()) check_commit_url(input.commit_url);
  const SiteIndex index(std::move(input.rows), input.cases);
  Json summaries = Json::array();
  for (const auto& summary : index.summaries()) {
    summaries.push_back(site_summary(summary, index.rows()));
  }
  Json data = {{"title", input.title},
               {"warnings", input.warnings},
               {"caveats", environment_caveats(index.rows())},
               {"runs", runs_json(index)},
               {"machines", site_machines(index, input.ceilings)},
               {"cases", cases_json(index)},
               {"points", points_json(index)},
               {"summaries", std::move(summaries)},
               {"history", site_history(index)},
               {"pairs", site_pairs(index)},
               {"commit_url", input.commit_url.empty() ? Json() : Json(input.commit_url)},
               {"calibrations", site_calibrations(index)},
               {"rows", row_columns(index.rows())}};
  make_printable(data);
  return data;
}

}  // namespace assay::lab
