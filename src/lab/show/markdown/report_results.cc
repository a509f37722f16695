// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "lab/record/metrics.h"
#include "lab/record/point.h"
#include "lab/show/markdown/markdown.h"
#include "lab/show/markdown/report_sections.h"
#include "lab/show/terminal/cells.h"

namespace assay::lab {
namespace {

// Where attempts can be compared: machine, platform, cores, isolation.
using PlaceColumn = std::tuple<std::string, std::string, int, std::string>;

PlaceColumn column_of(const Summary& s) {
  return {s.fingerprint, s.platform, s.cores, s.isolation};
}

std::string column_name(const PlaceColumn& place, const MachineNames& machines) {
  const auto& [fingerprint, platform, cores, isolation] = place;
  return fmt::format("{}, {}, {}{}", machines.at(fingerprint), markdown_text(platform, 20),
                     plural(cores, "core"), isolation == "in-process" ? ", in process" : "");
}

// The parameters that are the same at all points, and those that are not.
std::pair<Json, std::set<std::string>> split_points(std::span<const Summary> summaries) {
  Json common = summaries.front().point;
  std::set<std::string> varying;
  for (const Summary& s : summaries) {
    for (const auto& [key, value] : s.point.items()) {
      if (!common.contains(key) || common[key] != value) varying.insert(key);
    }
    for (const auto& [key, value] : common.items()) {
      if (!s.point.contains(key)) varying.insert(key);
    }
  }
  for (const auto& key : varying) common.erase(key);
  return {common, varying};
}

std::string varying_label(const Json& point, const std::set<std::string>& varying) {
  Json shown = Json::object();
  for (const auto& key : varying) {
    if (point.contains(key)) shown[key] = point[key];
  }
  return markdown_text(point_label(shown), 80);
}

std::string introduction(std::span<const Summary> summaries, const std::set<PlaceColumn>& places,
                         const Json& common, bool one_point, const MachineNames& machines) {
  const Summary& s = summaries.front();
  const Metric* metric = find_metric(s.metric);
  std::string text =
      fmt::format("Median of {}{} over attempts.", markdown_text(s.metric, 40),
                  metric == nullptr ? "" : fmt::format(" ({})", metric->description));
  if (!s.baseline.empty()) {
    text += fmt::format(
        " Ratio: provider over {}, median over rounds with its 95 % interval; {} 1 is faster.",
        markdown_text(s.baseline, 40), more_is_better(s.metric) ? "above" : "below");
  }
  if (!common.empty()) {
    text += fmt::format(" {}: {}.", one_point ? "At the point" : "At every point",
                        markdown_text(point_label(common), 200));
  }
  if (places.size() == 1) {
    text += fmt::format(" All on {}.", column_name(*places.begin(), machines));
  }
  return text + "\n\n";
}

std::string details_table(std::span<const Summary> summaries, const PlaceColumn& place,
                          const std::set<std::string>& varying) {
  std::vector<std::vector<std::string>> rows;
  Json last;
  for (const Summary& s : summaries) {
    if (column_of(s) != place) continue;
    std::vector<std::string> row = {markdown_text(s.provider, 40),
                                    median_cell(s),
                                    markdown_text(ratio_cell(s)),
                                    limit_cell(s),
                                    fidelity_cell(s),
                                    memory_cell(s),
                                    fmt::format("{}", s.rounds),
                                    sparkline(s.attempts, 20),
                                    markdown_text(verdict_cell(s))};
    if (!varying.empty()) {
      row.insert(row.begin(), s.point == last ? "" : varying_label(s.point, varying));
      last = s.point;
    }
    rows.push_back(std::move(row));
  }
  std::vector<std::string> titles = {"Provider", "Median",          "Ratio",
                                     "Of limit", "Error/tolerance", "Memory",
                                     "Rounds",   "Attempts",        "Verdict"};
  std::string alignment = "lrlrrrrll";
  if (!varying.empty()) {
    titles.insert(titles.begin(), "Point");
    alignment.insert(0, "l");
  }
  return markdown_table(titles, alignment, rows);
}

// One column for each place: what can be compared stands in one column, never in one row.
std::string places_table(std::span<const Summary> summaries, const std::set<std::string>& varying,
                         const std::set<PlaceColumn>& places, const MachineNames& machines) {
  std::map<std::pair<Json, std::string>, std::map<PlaceColumn, const Summary*>> by_row;
  std::vector<std::pair<Json, std::string>> order;
  for (const Summary& s : summaries) {
    const std::pair key(s.point, s.provider);
    if (!by_row.contains(key)) order.push_back(key);
    by_row[key][column_of(s)] = &s;
  }
  std::ranges::stable_sort(order, {}, [](const auto& key) { return key.first; });
  std::vector<std::string> titles = {"Point", "Provider"};
  for (const auto& place : places) titles.push_back(column_name(place, machines));
  std::vector<std::vector<std::string>> rows;
  for (const auto& key : order) {
    std::vector<std::string> row = {varying_label(key.first, varying),
                                    markdown_text(key.second, 40)};
    for (const auto& place : places) {
      const auto it = by_row[key].find(place);
      if (it == by_row[key].end()) {
        row.push_back("");
        continue;
      }
      const Summary& s = *it->second;
      auto cell = s.median ? median_cell(s) : std::string();
      if (s.ratio) cell += ", " + markdown_text(ratio_cell(s));
      if (s.status != Status::kOk) {
        cell += (cell.empty() ? "" : ", ") + markdown_text(verdict_cell(s));
      } else if (!s.unequal_work.empty()) {
        cell += " (unequal work)";
      }
      row.push_back(cell);
    }
    rows.push_back(std::move(row));
  }
  return markdown_table(titles, std::string(titles.size(), 'l'), rows);
}

}  // namespace

std::string results_section(std::span<const Summary> summaries, const MachineNames& machines) {
  std::string text = "## Results\n";
  for (std::size_t first = 0; first < summaries.size();) {
    std::size_t last = first;
    const auto& head = summaries[first];
    while (last < summaries.size() && summaries[last].suite == head.suite &&
           summaries[last].case_name == head.case_name) {
      ++last;
    }
    const auto of_case = summaries.subspan(first, last - first);
    std::set<PlaceColumn> places;
    for (const Summary& s : of_case) places.insert(column_of(s));
    const auto [common, varying] = split_points(of_case);
    text += fmt::format("\n### Case {} of suite {}\n\n{}", markdown_text(head.case_name, 60),
                        markdown_text(head.suite, 60),
                        introduction(of_case, places, common, varying.empty(), machines));
    if (places.size() == 1) {
      text += details_table(of_case, *places.begin(), varying);
    } else {
      text += places_table(of_case, varying, places, machines);
      for (const auto& place : places) {
        text += fmt::format("\nIn detail, on {}:\n\n{}", column_name(place, machines),
                            details_table(of_case, place, varying));
      }
    }
    first = last;
  }
  return text;
}

}  // namespace assay::lab
