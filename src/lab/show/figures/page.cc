// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/figures/page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "lab/record/metrics.h"
#include "lab/show/figures/baseline_ratio.h"
#include "lab/show/figures/equal_formulas.h"
#include "lab/show/figures/row_quantity.h"
#include "lab/show/figures/table.h"
#include "lab/stats/median_interval.h"
#include "lab/stats/quantile.h"

namespace assay::lab {
namespace {

FigurePoint point(double x, double y, const std::optional<Interval>& interval,
                  std::int64_t attempts) {
  FigurePoint p{.x = x, .y = y, .attempts = static_cast<int>(attempts)};
  if (interval) {
    p.low = interval->low;
    p.high = interval->high;
  }
  return p;
}

class Page {
 public:
  Page(const FigureRecipe& recipe, std::vector<const Row*> rows)
      : recipe_(recipe), rows_(std::move(rows)), primary_(primary_metric()) {}

  std::optional<Figure> figure() const {
    Figure f;
    f.form = recipe_.form;
    f.title = recipe_.title;
    f.log_x = recipe_.log_x;
    f.log_y = recipe_.log_y;
    f.x_label = recipe_.x_label.empty() ? x_name() : recipe_.x_label;
    f.y_label = !recipe_.y_label.empty() ? recipe_.y_label : metric_label(y_name());
    f.marks = recipe_.marks;
    f.roofs = recipe_.roofs;
    if (recipe_.form == FigureForm::kTable) {
      f.table = compose_table(recipe_, rows_, primary_);
    } else if (recipe_.form == FigureForm::kAgainst) {
      against(f);
    } else if (recipe_.form == FigureForm::kStacked) {
      find_categories(f);
      stack(f);
    } else if (!recipe_.parts.empty()) {
      side_by_side(f);
    } else {
      if (!x_is_number() || recipe_.form == FigureForm::kBars) find_categories(f);
      is_of_baseline(y_name()) ? ratios(f) : lines(f);
      if (is_of_baseline(y_name()) && recipe_.form == FigureForm::kBars && f.log_y) f.grow_from = 1;
      if (recipe_.form == FigureForm::kBars && !f.grow_from && span_of(f) < kLinearSpan) {
        f.log_y = false;
      }
    }
    if (f.series.empty() && !f.table) return std::nullopt;
    join_equal_formulas(f);
    for (const Row* row : rows_) {
      f.newest = std::max(f.newest, row->provenance.time_end.value_or(""));
    }
    return f;
  }

 private:
  // Bars of lengths that can be seen side by side begin at zero: on a logarithmic axis a bar has no
  // length.
  static constexpr double kLinearSpan = 30;
  static double span_of(const Figure& f) {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (const auto& series : f.series) {
      for (const auto& p : series.points) {
        least = std::min(least, p.y);
        most = std::max(most, p.y);
      }
    }
    return most / least;
  }

  std::string primary_metric() const {
    return rows_.empty() ? "steady_time" : rows_.front()->primary_metric();
  }
  std::string y_name() const { return recipe_.y.empty() ? primary_ : recipe_.y; }
  std::string x_name() const {
    std::vector<std::string> names;
    for (const auto& key : recipe_.x) {
      names.push_back(find_metric(key) != nullptr ? metric_label(key) : key);
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }
  bool x_is_number() const {
    return recipe_.x.size() == 1 && std::ranges::all_of(rows_, [&](const Row* row) {
             return quantity(*row, recipe_.x.front()).is_number();
           });
  }

  std::string category_of(const Row& row) const {
    std::vector<std::string> parts;
    bool numbers = true;
    for (const auto& key : recipe_.x) {
      const Json value = quantity(row, key);
      numbers &= value.is_number();
      parts.push_back(in_words(value));
    }
    return fmt::format("{}", fmt::join(parts, numbers ? "×" : ", "));
  }
  // By the work they are, the smallest first; then by numbers in the name, then by name.
  void find_categories(Figure& f) const {
    std::map<std::string, std::pair<double, Json>> order;
    for (const Row* row : rows_) {
      const auto flops = row->work_of("flops"), pairs = row->work_of("pairs");
      const double work = flops.value_or(pairs.value_or(0));
      order.emplace(category_of(*row), std::pair{work, quantities(*row, recipe_.x)});
    }
    std::vector<std::pair<std::pair<double, Json>, std::string>> sorted;
    for (auto& [name, rank] : order) sorted.emplace_back(std::move(rank), name);
    std::ranges::sort(sorted);
    for (auto& [rank, name] : sorted) f.categories.push_back(name);
  }
  double y_of(const Row& row) const { return row.metric_or_nan(y_name()); }
  double x_of(const Figure& f, const Row& row) const {
    if (f.categories.empty()) return quantity(row, recipe_.x.front()).get<double>();
    const auto found = std::ranges::find(f.categories, category_of(row));
    return static_cast<double>(found - f.categories.begin());
  }

  struct SeriesRows {
    std::string label, origin;
    std::vector<const Row*> rows;
  };
  // The rows of each series: measured ones first, formulas last (and drawn on top), each kind in
  // the order of what separates them.
  std::vector<SeriesRows> by_series() const {
    std::map<std::pair<int, Json>, SeriesRows> found;
    for (const Row* row : rows_) {
      const auto origin = origin_of(*row);
      const int kind = origin == "measured" ? 0 : origin == "simulated" ? 1 : 2;
      auto& series = found[{kind, quantities(*row, recipe_.series)}];
      series.label = recipe_.series.empty() ? y_name() : describe(*row, recipe_.series);
      series.origin = origin;
      series.rows.push_back(row);
    }
    std::vector<SeriesRows> out;
    for (auto& [key, series] : found) out.push_back(std::move(series));
    return out;
  }

  void add_series(Figure& f, const std::string& label, const std::string& origin,
                  const std::map<double, std::vector<double>>& values,
                  std::size_t shade = 0) const {
    if (values.empty()) return;
    FigureSeries series{.label = label, .origin = origin, .shade = shade, .points = {}};
    for (const auto& [x, ys] : values) {
      series.points.push_back(point(x, median(ys), median_interval(ys), std::ssize(ys)));
    }
    f.series.push_back(std::move(series));
  }

  void lines(Figure& f) const {
    for (const auto& [label, origin, rows] : by_series()) {
      std::map<double, std::vector<double>> values;
      for (const Row* row : rows) {
        const double x = x_of(f, *row), y = y_of(*row);
        if (std::isfinite(y) && is_on_axis(f, x) && !(f.log_y && y <= 0)) values[x].push_back(y);
      }
      add_series(f, label, origin, values);
    }
  }

  // Each row against the baseline's of the same run, round and point.
  void ratios(Figure& f) const {
    const BaselineRatios baselines(rows_, primary_);
    for (const auto& [label, origin, rows] : by_series()) {
      std::map<double, std::vector<const Row*>> by_x;
      for (const Row* row : rows) {
        if (const double x = x_of(f, *row); is_on_axis(f, x)) by_x[x].push_back(row);
      }
      FigureSeries series{.label = label, .origin = origin, .points = {}};
      for (const auto& [x, group] : by_x) {
        const auto ratio = baselines.of(y_name(), group);
        if (ratio) series.points.push_back(point(x, ratio->ratio, ratio->interval, ratio->rounds));
      }
      if (!series.points.empty()) f.series.push_back(std::move(series));
    }
    if (recipe_.ideal) add_ideal(f);
  }
  // As fast as the widest lane at each x would be if nothing were lost.
  void add_ideal(Figure& f) const {
    std::map<double, double> widest;
    for (const Row* row : rows_) {
      const double x = x_of(f, *row), lanes = row->metric_or_nan("lanes");
      if (is_on_axis(f, x) && lanes > 0) widest[x] = std::max(widest[x], lanes);
    }
    FigureSeries ideal{.label = "ideal", .origin = "closed form", .points = {}};
    for (const auto& [x, lanes] : widest) ideal.points.push_back(point(x, lanes, {}, 0));
    if (!f.series.empty() && !widest.empty()) f.series.push_back(std::move(ideal));
  }
  static bool is_on_axis(const Figure& f, double x) {
    return std::isfinite(x) && (!f.log_x || !f.categories.empty() || x > 0);
  }

  static std::string pair_of(const std::string& x, const std::string& category) {
    return fmt::format("{}: {}", x, category);
  }
  // The layers, and their categories where they name some, both in the order of the recipe.
  std::vector<std::string> find_layers(Figure& f) const {
    std::vector<std::string> layers, categories;
    const auto add_new = [](std::vector<std::string>& names, const std::string& name) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    };
    for (const auto& part : recipe_.parts) {
      add_new(layers, part.layer);
      if (!part.category.empty()) add_new(categories, part.category);
    }
    if (categories.empty()) return layers;
    if (recipe_.form != FigureForm::kStacked || recipe_.x.empty()) {
      f.categories = categories;
      return layers;
    }
    const auto outer = std::exchange(f.categories, {});
    for (const auto& one : outer) {
      for (const auto& other : categories) f.categories.push_back(pair_of(one, other));
    }
    return layers;
  }
  // What rows have in a layer, by category.
  std::map<double, std::vector<double>> values_of(const Figure& f, const std::string& layer,
                                                  const std::vector<const Row*>& rows) const {
    std::map<double, std::vector<double>> values;
    for (const auto& part : recipe_.parts) {
      if (part.layer != layer) continue;
      for (const Row* row : rows) {
        const double y = row->metric_or_nan(part.metric);
        if (!std::isfinite(y) || (f.log_y && y <= 0)) continue;
        const bool is_pair = recipe_.form == FigureForm::kStacked && !recipe_.x.empty();
        const auto at = std::ranges::find(
            f.categories, is_pair ? pair_of(category_of(*row), part.category) : part.category);
        const double x =
            part.category.empty() ? x_of(f, *row) : static_cast<double>(at - f.categories.begin());
        values[x].push_back(y);
      }
    }
    return values;
  }

  void stack(Figure& f) const {
    for (const auto& layer : find_layers(f)) {
      add_series(f, layer, rows_.empty() ? "" : origin_of(*rows_.back()),
                 values_of(f, layer, rows_));
    }
  }

  void side_by_side(Figure& f) const {
    const auto layers = find_layers(f);
    for (const auto& [label, origin, rows] : by_series()) {
      for (std::size_t i = 0; i < layers.size(); ++i) {
        add_series(f, layers.size() == 1 ? label : fmt::format("{}, {}", label, layers[i]), origin,
                   values_of(f, layers[i], rows), i);
      }
    }
  }

  void against(Figure& f) const {
    std::map<std::string, std::vector<double>> reference;  // by point
    for (const Row* row : rows_) {
      if (row->provider == recipe_.reference && std::isfinite(y_of(*row))) {
        reference[canonical_json(row->point)].push_back(y_of(*row));
      }
    }
    for (const auto& [label, origin, rows] : by_series()) {
      std::map<double, std::vector<double>> values;
      for (const Row* row : rows) {
        const auto found = reference.find(canonical_json(row->point));
        if (row->provider == recipe_.reference || found == reference.end()) continue;
        if (std::isfinite(y_of(*row))) values[median(found->second)].push_back(y_of(*row));
      }
      add_series(f, label, origin, values);
    }
  }

  const FigureRecipe& recipe_;
  std::vector<const Row*> rows_;
  std::string primary_;
};

}  // namespace

std::optional<Figure> compose_page(const FigureRecipe& recipe, std::vector<const Row*> rows) {
  return Page(recipe, std::move(rows)).figure();
}

}  // namespace assay::lab
