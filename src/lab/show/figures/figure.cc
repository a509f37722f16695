// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/figures/figure.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/names.h"
#include "lab/record/fields.h"
#include "lab/record/metrics.h"

namespace assay::lab {
namespace {

constexpr auto kFigureFormNames = make_names<FigureForm>({{FigureForm::kLines, "lines"},
                                                          {FigureForm::kScatter, "scatter"},
                                                          {FigureForm::kBars, "bars"},
                                                          {FigureForm::kStacked, "stacked"},
                                                          {FigureForm::kAgainst, "against"},
                                                          {FigureForm::kTable, "table"}});

// Lines as objects: what a program reads.
Json table_json(const FigureTable& table) {
  Json lines = Json::array();
  for (const auto& line : table.lines) {
    Json object = Json::object();
    for (std::size_t i = 0; i < line.size(); ++i) object[table.columns[i]] = line[i];
    lines.push_back(std::move(object));
  }
  Json units = Json::object();
  for (const auto& column : table.columns) {
    if (const Metric* metric = find_metric(column)) units[column] = metric->unit;
  }
  return {{"columns", table.columns}, {"units", std::move(units)}, {"lines", std::move(lines)}};
}

}  // namespace

Json figure_json(const Figure& figure) {
  Json series = Json::array();
  for (const auto& s : figure.series) {
    Json points = Json::array();
    for (const auto& p : s.points) {
      points.push_back({{"x", p.x},
                        {"y", p.y},
                        {"low", value_to_json(p.low)},
                        {"high", value_to_json(p.high)},
                        {"attempts", p.attempts}});
    }
    series.push_back({{"label", s.label}, {"origin", s.origin}, {"points", std::move(points)}});
  }
  Json marks = Json::array();
  for (const auto& m : figure.marks) marks.push_back({{"y", m.y}, {"label", m.label}});
  Json roofs = Json::array();
  for (const auto& r : figure.roofs) {
    roofs.push_back({{"peak", r.peak}, {"slope", r.slope}, {"label", r.label}});
  }
  return {{"name", figure.name},
          {"title", figure.title},
          {"subtitle", figure.subtitle},
          {"form", kFigureFormNames[figure.form]},
          {"marks", std::move(marks)},
          {"roofs", std::move(roofs)},
          {"table", figure.table ? table_json(*figure.table) : Json()},
          {"x", {{"label", figure.x_label}, {"log", figure.log_x}}},
          {"y", {{"label", figure.y_label}, {"log", figure.log_y}}},
          {"categories", figure.categories},
          {"series", std::move(series)},
          {"notes", figure.notes},
          {"newest_row", figure.newest.empty() ? Json() : Json(figure.newest)}};
}

std::string metric_label(std::string_view name) {
  std::string words(name);
  for (char& c : words) {
    if (c == '_') c = ' ';
  }
  const Metric* metric = find_metric(name);
  if (metric == nullptr || metric->unit == "1") return words;
  return fmt::format("{} [{}]", words, metric->unit);
}

}  // namespace assay::lab
