// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/view/self_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "lab/record/point.h"
#include "lab/record/provider.h"

namespace assay::lab {
namespace {

double value_of(const Row& row) {
  const double value = row.metric_or_nan(row.primary_metric());
  return row.status == Status::kOk && std::isfinite(value) && value > 0 ? value : NAN;
}

// The batches of an ok attempt; its one value where a row carries no samples.
std::vector<double> batches_of(const Row& row) {
  std::vector<double> batches;
  for (const double sample : row.samples.steady_s()) {
    if (sample > 0) batches.push_back(sample);
  }
  if (batches.empty()) batches.push_back(value_of(row));
  return batches;
}

std::string percent_or_dash(const std::optional<double>& sigma) {
  return sigma ? fmt::format("{:.2f} %", 100 * *sigma) : "–";
}

}  // namespace

std::vector<SelfComparison> self_comparisons(std::span<const Row> rows, int least) {
  using Place = std::tuple<std::string, std::string, std::string, Json, std::string, int>;
  std::map<Place, std::map<std::string, std::map<int, double>>> places;
  for (const auto& row : rows) {
    const double value = value_of(row);
    if (std::isnan(value)) continue;
    places[{row.case_name, std::string(provider_of(row.provider)), row.run_id, row.point,
            row.platform, row.cores}][row.provider][row.round] = value;
  }
  std::vector<SelfComparison> result;
  for (const auto& [place, names] : places) {
    if (names.size() < 2) continue;
    const auto& first = names.begin()->second;
    const auto& second = std::next(names.begin())->second;
    SelfComparison comparison{std::get<0>(place), std::get<1>(place), {}, {}};
    std::vector<double> all;
    for (const auto& [round, value] : first) {
      const auto other = second.find(round);
      if (other == second.end()) continue;
      comparison.d.push_back(std::log(other->second) - std::log(value));
      all.push_back(value);
      all.push_back(other->second);
    }
    if (static_cast<int>(comparison.d.size()) < least) continue;
    comparison.modes = two_modes(all);
    result.push_back(std::move(comparison));
  }
  return result;
}

std::vector<NoiseLine> noise_lines(std::span<const Row> rows, bool by_point) {
  struct Group {
    RunBatches batches;
    std::vector<double> values;
  };
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Key, std::map<std::string, Group>> keys;  // then by run
  for (const auto& row : rows) {
    const double value = value_of(row);
    if (std::isnan(value)) continue;
    const auto point = point_label(row.point);
    auto& group =
        keys[{row.case_name, by_point ? "" : point, std::string(provider_of(row.provider)),
              row.platform}][row.run_id + (by_point ? point : "")];
    group.batches.push_back(batches_of(row));
    group.values.push_back(value);
  }
  std::vector<NoiseLine> lines;
  for (const auto& [key, runs] : keys) {
    const auto& [case_name, point, provider, platform] = key;
    NoiseLine line{case_name, point, provider, platform, {}, 0, 0};
    std::vector<RunBatches> batches;
    for (const auto& [run, group] : runs) {
      batches.push_back(group.batches);
      ++line.groups;
      line.heaps += two_modes(group.values).has_value();
    }
    line.budget = noise_budget(batches);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string noise_table(std::span<const NoiseLine> lines) {
  std::size_t width = 0;
  const auto name = [](const NoiseLine& l) {
    return fmt::format("{} {}{}", l.case_name, l.provider, l.point.empty() ? "" : " " + l.point);
  };
  for (const auto& line : lines) width = std::max(width, name(line).size());
  std::string text = fmt::format("  {:<{}}  {:>14}  {:>17}  {:>12}  {:>8}\n", "", width,
                                 "within process", "between processes", "between runs", "attempts");
  for (const auto& line : lines) {
    const auto& b = line.budget;
    // A dash is three bytes and one column: pad by hand.
    const auto cell = [](const std::optional<double>& sigma, std::size_t columns) {
      const auto words = percent_or_dash(sigma);
      return std::string(columns - (sigma ? words.size() : 1), ' ') + words;
    };
    text += fmt::format(
        "  {:<{}}  {}  {}  {}  {:>8}{}\n", name(line), width, cell(b.within_process, 14),
        cell(b.between_processes, 17), cell(b.between_runs, 12), b.attempts,
        line.heaps > 0 ? fmt::format("  two heaps in {} of {} runs", line.heaps, line.groups) : "");
  }
  return text;
}

}  // namespace assay::lab
