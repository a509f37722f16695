// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/figures/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/units.h"
#include "lab/record/metrics.h"
#include "lab/show/figures/baseline_ratio.h"
#include "lab/show/figures/row_quantity.h"
#include "lab/show/markdown/markdown.h"
#include "lab/stats/crossover.h"
#include "lab/stats/quantile.h"

namespace assay::lab {
namespace {

constexpr std::string_view kCrossover = "crossover";

using Rows = std::vector<const Row*>;

Json median_of(const Rows& rows, const std::string& metric) {
  std::vector<double> values;
  for (const Row* row : rows) {
    const double value = row->metric_or_nan(metric);
    if (std::isfinite(value)) values.push_back(value);
  }
  return values.empty() ? Json() : Json(median(values));
}

// Of one series: its rows by x.
Json crossover_of(const std::map<Json, Rows>& by_x, const BaselineRatios& ratios) {
  std::vector<double> x, ratio;
  for (const auto& [at, rows] : by_x) {
    const bool is_baseline = rows.front()->provenance.baseline == rows.front()->provider;
    if (at.size() != 1 || !at.front().is_number() || is_baseline) return nullptr;
    const auto found = ratios.of(kRatioQuantity, rows);
    if (!found) continue;
    x.push_back(at.front().get<double>());
    ratio.push_back(found->ratio);
  }
  const auto from = crossover(x, ratio);
  return from ? Json(*from) : Json();
}

std::string cell(const std::string& column, const Json& value) {
  if (!value.is_number()) return in_words(value);
  const double number = value.get<double>();
  const Metric* metric = find_metric(column);
  const auto unit = metric == nullptr ? std::string_view("1") : metric->unit;
  if (unit == "s") return format_seconds(number);
  if (unit == "B") return format_bytes(number);
  if (column == kEfficiencyQuantity) return fmt::format("{:.1f} %", 100 * number);
  if (column == "difference_from_baseline" && number != 0) return fmt::format("{:.1e}", number);
  return value.is_number_integer() ? in_words(value) : fmt::format("{:.4g}", number);
}

}  // namespace

FigureTable compose_table(const FigureRecipe& recipe, const std::vector<const Row*>& rows,
                          const std::string& primary_metric) {
  const BaselineRatios ratios(rows, primary_metric);
  std::map<Json, std::map<Json, Rows>> groups;  // by series, then by x
  for (const Row* row : rows) {
    groups[quantities(*row, recipe.series)][quantities(*row, recipe.x)].push_back(row);
  }
  FigureTable table;
  table.columns = recipe.series;
  table.columns.insert(table.columns.end(), recipe.x.begin(), recipe.x.end());
  table.columns.insert(table.columns.end(), recipe.columns.begin(), recipe.columns.end());
  for (const auto& [series, by_x] : groups) {
    const Json from = crossover_of(by_x, ratios);
    for (const auto& [x, group] : by_x) {
      std::vector<Json> line(series.begin(), series.end());
      line.insert(line.end(), x.begin(), x.end());
      for (const auto& column : recipe.columns) {
        if (column == kCrossover) {
          line.push_back(from);
        } else if (is_of_baseline(column)) {
          const auto found = ratios.of(column, group);
          line.push_back(found ? Json(found->ratio) : Json());
        } else {
          line.push_back(median_of(group, column));
        }
      }
      table.lines.push_back(std::move(line));
    }
  }
  return table;
}

std::string table_markdown(const Figure& figure) {
  const auto& table = figure.table.value();
  std::vector<std::string> titles;
  std::string alignment;
  for (const auto& column : table.columns) {
    const auto label = metric_label(column);
    titles.push_back(markdown_text(label.substr(0, label.find(" ["))));
    const auto is_number = [&, i = titles.size() - 1](const auto& line) {
      return line[i].is_number() || line[i].is_null();
    };
    alignment += std::ranges::all_of(table.lines, is_number) ? 'r' : 'l';
  }
  std::vector<std::vector<std::string>> lines;
  for (const auto& line : table.lines) {
    auto& cells = lines.emplace_back();
    for (std::size_t i = 0; i < line.size(); ++i) {
      cells.push_back(markdown_text(cell(table.columns[i], line[i])));
    }
  }
  const auto under =
      figure.subtitle.empty() ? "" : "On " + markdown_text(figure.subtitle) + ".\n\n";
  return fmt::format("# {}\n\n{}{}", markdown_text(figure.title), under,
                     markdown_table(titles, alignment, lines));
}

}  // namespace assay::lab
