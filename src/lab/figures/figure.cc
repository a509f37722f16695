// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/figures/figure.h"

#include <fmt/format.h>

#include "base/error.h"
#include "lab/record/metrics.h"

namespace assay::lab {
namespace {

std::string_view form_name(FigureForm form) {
  switch (form) {
    case FigureForm::kLines:
      return "lines";
    case FigureForm::kScatter:
      return "scatter";
    case FigureForm::kBars:
      return "bars";
    case FigureForm::kStacked:
      return "stacked";
    case FigureForm::kAgainst:
      return "against";
  }
  throw InternalError("a figure has one of five forms");
}

Json or_null(const std::optional<double>& x) { return x ? Json(*x) : Json(); }

}  // namespace

Json figure_json(const Figure& figure) {
  Json series = Json::array();
  for (const auto& s : figure.series) {
    Json points = Json::array();
    for (const auto& p : s.points) {
      points.push_back({{"x", p.x},
                        {"y", p.y},
                        {"low", or_null(p.low)},
                        {"high", or_null(p.high)},
                        {"attempts", p.attempts}});
    }
    series.push_back({{"label", s.label}, {"origin", s.origin}, {"points", std::move(points)}});
  }
  return {{"name", figure.name},
          {"title", figure.title},
          {"subtitle", figure.subtitle},
          {"form", form_name(figure.form)},
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
