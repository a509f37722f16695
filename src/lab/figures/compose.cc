// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/figures/compose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/error.h"
#include "lab/record/metrics.h"
#include "lab/stats/quantile.h"
#include "lab/stats/sign_interval.h"
#include "lab/view/provenance.h"

namespace assay::lab {
namespace {

constexpr double kConfidence = 0.95;

std::string text_of(const Row& row, std::string_view field) {
  return text_at(row.provenance, field).value_or("");
}

// Rows from before that field, and those of other tools, are measured.
std::string origin_of(const Row& row) {
  return text_at(row.provenance, "origin").value_or("measured");
}

// A quantity of a row, as figure_recipe.h names them; null where the row does not have it.
Json quantity(const Row& row, const std::string& name) {
  if (name == "provider") return row.provider;
  if (const auto found = row.point.find(name); found != row.point.end()) return *found;
  if (name == "intensity") {
    if (!row.work.is_object() || !row.work.contains("flops") || !row.work.contains("bytes")) {
      return nullptr;
    }
    return row.work["flops"].get<double>() / row.work["bytes"].get<double>();
  }
  if (const auto found = row.metrics.find(name); found != row.metrics.end()) return found->second;
  return nullptr;
}

std::string words(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:g}", value.get<double>());
  return value.is_null() ? "–" : canonical_json(value);
}

// "n = 64, dtype = f32"; values that speak for themselves (names) stand alone.
std::string describe(const Row& row, const std::vector<std::string>& keys) {
  std::vector<std::string> parts;
  for (const auto& key : keys) {
    const Json value = quantity(row, key);
    parts.push_back(value.is_string() ? words(value) : fmt::format("{} = {}", key, words(value)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string file_name(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool keep = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || c == '.';
    if (keep) {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  // What a file system takes, with room for an extension.
  return out.substr(0, 200);
}

bool takes_part(const Row& row, const Json& only) {
  for (const auto& [key, wanted] : only.items()) {
    const Json value = quantity(row, key);
    const bool fits =
        wanted.is_array() ? std::ranges::find(wanted, value) != wanted.end() : value == wanted;
    if (!fits) return false;
  }
  return true;
}

FigurePoint summarised(double x, const std::vector<double>& values) {
  FigurePoint point{.x = x, .y = median(values), .attempts = static_cast<int>(values.size())};
  const auto rank = sign_interval_rank(point.attempts, kConfidence);
  if (rank) {
    std::vector<double> sorted = values;
    std::ranges::sort(sorted);
    point.low = sorted[static_cast<std::size_t>(*rank - 1)];
    point.high = sorted[sorted.size() - static_cast<std::size_t>(*rank)];
  }
  return point;
}

// The leading parts ("a, b, …") that two labels share.
std::string common_label(const std::string& a, const std::string& b) {
  std::size_t shared = 0;
  for (std::size_t i = 0; i <= std::min(a.size(), b.size()); ++i) {
    const auto ends = [i](const std::string& s) { return i == s.size() || s.substr(i, 2) == ", "; };
    if (ends(a) && ends(b)) shared = i;
    if (i < std::min(a.size(), b.size()) && a[i] != b[i]) break;
  }
  return a.substr(0, shared);
}

// A formula that does not depend on what separates the series is one line, not one for each.
void join_equal_formulas(Figure& f) {
  const auto same = [](const FigureSeries& a, const FigureSeries& b) {
    return a.origin == "closed form" && b.origin == a.origin &&
           std::ranges::equal(a.points, b.points, [](const FigurePoint& p, const FigurePoint& q) {
             return p.x == q.x && p.y == q.y;
           });
  };
  std::vector<FigureSeries> joined;
  std::vector<std::vector<std::string>> labels;
  for (auto& series : f.series) {
    const auto twin = std::ranges::find_if(joined, [&](const auto& j) { return same(j, series); });
    if (twin == joined.end()) {
      labels.push_back({series.label});
      joined.push_back(std::move(series));
    } else {
      labels[static_cast<std::size_t>(twin - joined.begin())].push_back(series.label);
    }
  }
  for (std::size_t i = 0; i < joined.size(); ++i) {
    std::string common = labels[i].front();
    for (const auto& label : labels[i]) common = common_label(common, label);
    bool is_unique = !common.empty();  // what is left of the names tells it from all others
    for (std::size_t j = 0; j < joined.size(); ++j) {
      for (const auto& label : labels[j]) {
        is_unique = is_unique && (j == i || common_label(common, label) != common);
      }
    }
    if (labels[i].size() == 1 || is_unique) {
      joined[i].label = labels[i].size() == 1 ? labels[i].front() : common;
      continue;
    }
    std::vector<std::string> rest;
    for (const auto& label : labels[i]) {
      rest.push_back(common.empty() ? label : label.substr(common.size() + 2));
    }
    joined[i].label = fmt::format("{}{}{}", common, common.empty() ? "" : ": ",
                                  fmt::join(rest, common.empty() ? " = " : ", "));
  }
  f.series = std::move(joined);
}

// One page: the rows of one figure.
class Page {
 public:
  Page(const FigureRecipe& recipe, std::vector<const Row*> rows)
      : recipe_(recipe), rows_(std::move(rows)), primary_(primary_metric()) {
    if (y_name() != kRatioQuantity) return;
    for (const Row* row : rows_) {
      if (row->provider == text_of(*row, "baseline")) baselines_[pair_of(*row)] = row;
    }
  }

  std::optional<Figure> figure() {
    Figure f;
    f.form = recipe_.form;
    f.title = recipe_.title;
    f.log_x = recipe_.log_x;
    f.log_y = recipe_.log_y;
    f.x_label = recipe_.x_label.empty() ? x_name() : recipe_.x_label;
    f.y_label = !recipe_.y_label.empty() ? recipe_.y_label : metric_label(y_name());
    if (recipe_.form == FigureForm::kAgainst) {
      against(f);
    } else if (recipe_.form == FigureForm::kStacked) {
      find_categories(f);
      stack(f);
    } else {
      if (!x_is_number() || recipe_.form == FigureForm::kBars) find_categories(f);
      lines(f);
    }
    if (f.series.empty()) return std::nullopt;
    join_equal_formulas(f);
    for (const Row* row : rows_) f.newest = std::max(f.newest, text_of(*row, "time_end"));
    return f;
  }

 private:
  std::string primary_metric() const {
    const auto own = rows_.empty() ? "" : text_of(*rows_.front(), "primary_metric");
    return own.empty() ? "steady_time" : own;
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
      parts.push_back(words(value));
    }
    return fmt::format("{}", fmt::join(parts, numbers ? "×" : ", "));
  }
  // By the work they are, the smallest first; then by numbers in the name, then by name.
  void find_categories(Figure& f) {
    std::map<std::string, std::pair<double, Json>> order;
    for (const Row* row : rows_) {
      double work = 0;
      if (row->work.is_object()) {
        for (const auto& [name, value] : row->work.items()) {
          if (name == "flops" || name == "macs" || name == "pairs") work = value.get<double>();
        }
      }
      Json keys = Json::array();
      for (const auto& key : recipe_.x) keys.push_back(quantity(*row, key));
      order.emplace(category_of(*row), std::pair{work, std::move(keys)});
    }
    std::vector<std::pair<std::pair<double, Json>, std::string>> sorted;
    for (auto& [name, rank] : order) sorted.emplace_back(std::move(rank), name);
    std::ranges::sort(sorted);
    for (auto& [rank, name] : sorted) f.categories.push_back(name);
  }
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
      Json keys = Json::array();
      for (const auto& key : recipe_.series) keys.push_back(quantity(*row, key));
      const auto origin = origin_of(*row);
      const int kind = origin == "measured" ? 0 : origin == "simulated" ? 1 : 2;
      auto& series = found[{kind, std::move(keys)}];
      series.label = recipe_.series.empty() ? y_name() : describe(*row, recipe_.series);
      series.origin = origin;
      series.rows.push_back(row);
    }
    std::vector<SeriesRows> out;
    for (auto& [key, series] : found) out.push_back(std::move(series));
    return out;
  }

  static std::string pair_of(const Row& row) {
    return fmt::format("{} {} {}", row.run_id, row.round, canonical_json(row.point));
  }
  // Ratio of a row to the baseline's row of the same run, round and point; NaN where there is none.
  double ratio_of(const Row& row) const {
    const auto found = baselines_.find(pair_of(row));
    if (found == baselines_.end()) return std::nan("");
    return row.metric_or_nan(primary_) / found->second->metric_or_nan(primary_);
  }
  double y_of(const Row& row) const {
    return y_name() == kRatioQuantity ? ratio_of(row) : row.metric_or_nan(y_name());
  }

  void add_series(Figure& f, const std::string& label, const std::string& origin,
                  const std::map<double, std::vector<double>>& values) const {
    if (values.empty()) return;
    FigureSeries series{.label = label, .origin = origin, .points = {}};
    for (const auto& [x, ys] : values) series.points.push_back(summarised(x, ys));
    f.series.push_back(std::move(series));
  }

  void lines(Figure& f) const {
    for (const auto& [label, origin, rows] : by_series()) {
      std::map<double, std::vector<double>> values;
      for (const Row* row : rows) {
        const double y = y_of(*row);
        const double x = x_of(f, *row);
        if (!std::isfinite(y) || !std::isfinite(x)) continue;
        if ((f.log_y && y <= 0) || (f.log_x && f.categories.empty() && x <= 0)) continue;
        values[x].push_back(y);
      }
      add_series(f, label, origin, values);
    }
  }

  void stack(Figure& f) const {
    std::vector<std::string> layers, categories;
    for (const auto& part : recipe_.parts) {
      if (std::ranges::find(layers, part.layer) == layers.end()) layers.push_back(part.layer);
      const bool is_new = std::ranges::find(categories, part.category) == categories.end();
      if (!part.category.empty() && is_new) categories.push_back(part.category);
    }
    if (!categories.empty()) f.categories = categories;
    for (const auto& layer : layers) {
      std::map<double, std::vector<double>> values;
      std::string origin;
      for (const auto& part : recipe_.parts) {
        if (part.layer != layer) continue;
        for (const Row* row : rows_) {
          const double y = row->metric_or_nan(part.metric);
          if (!std::isfinite(y)) continue;
          const auto at = std::ranges::find(f.categories, part.category);
          const double x = part.category.empty() ? x_of(f, *row)
                                                 : static_cast<double>(at - f.categories.begin());
          values[x].push_back(y);
          origin = origin_of(*row);
        }
      }
      add_series(f, layer, origin, values);
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
  std::map<std::string, const Row*> baselines_;
};

// What must not be mixed in one figure.
std::string place_of(const Row& row) {
  const auto isolation = text_of(row, "isolation");
  // A simulation gives the same anywhere.
  if (origin_of(row) != "measured") return "";
  return fmt::format("{} {} core{} on {}{}", row.platform, row.cores, row.cores == 1 ? "" : "s",
                     row.fingerprint().substr(0, 8),
                     isolation == "in-process" ? ", in the runner's process" : "");
}

void check_identity(const Row& row, const Json& today) {
  const auto found = row.provenance.find("identity");
  const Json identity = found == row.provenance.end() ? Json() : *found;
  if (today.is_null() || identity == today) return;
  fail(
      "rows of '{}' were made with {}, the case has {} today: run it again, or leave them out ({})",
      row.case_name, canonical_json(identity), canonical_json(today), row.run_id);
}

void add_figures(const std::string& case_name, const FigureRecipe& recipe,
                 const std::vector<const Row*>& rows, std::vector<Figure>& out) {
  // Rows that hold in any place (simulated) stand beside those of each place.
  std::set<std::string> places;
  for (const Row* row : rows) {
    if (takes_part(*row, recipe.only)) places.insert(place_of(*row));
  }
  if (places.size() > 1) places.erase("");
  for (const auto& place : places) {
    std::map<std::string, std::vector<const Row*>> pages;
    for (const Row* row : rows) {
      const auto where = place_of(*row);
      if (!takes_part(*row, recipe.only) || (where != place && !where.empty())) continue;
      pages[describe(*row, recipe.pages)].push_back(row);
    }
    for (auto& [page, page_rows] : pages) {
      auto figure = Page(recipe, std::move(page_rows)).figure();
      if (!figure) continue;
      figure->title = fmt::format("{}: {}", case_name, figure->title);
      figure->name = file_name(
          fmt::format("{}-{}{}{}{}{}", case_name, recipe.name, page.empty() ? "" : "-", page,
                      places.size() > 1 ? "-" : "", places.size() > 1 ? place : ""));
      std::vector<std::string> under;
      for (const auto& part : {page, place}) {
        if (!part.empty()) under.push_back(part);
      }
      figure->subtitle = fmt::format("{}", fmt::join(under, " · "));
      out.push_back(std::move(*figure));
    }
  }
}

}  // namespace

std::vector<Figure> compose_figures(std::span<const Row> rows, const CaseDrawings& cases) {
  std::map<std::string, std::vector<const Row*>> by_case;
  for (const Row& row : rows) {
    if (row.status == Status::kOk) by_case[row.case_name].push_back(&row);
  }
  std::vector<Figure> out;
  for (auto& [name, of_case] : by_case) {
    const auto known = cases.find(name);
    const Json identity = known == cases.end() ? Json() : known->second.identity;
    for (const Row* row : of_case) check_identity(*row, identity);
    std::ranges::sort(of_case, [](const Row* a, const Row* b) {
      return std::tie(a->run_id, a->order, a->attempt_id) <
             std::tie(b->run_id, b->order, b->attempt_id);
    });
    const bool own = known != cases.end() && !known->second.recipes.empty();
    const auto recipes = own ? known->second.recipes : standard_recipes(of_case);
    for (const auto& recipe : recipes) add_figures(name, recipe, of_case, out);
  }
  std::ranges::sort(out, {}, &Figure::name);
  std::map<std::string, int> seen;  // a long name may have been cut to another's
  for (auto& figure : out) {
    if (const int before = seen[figure.name]++; before > 0) {
      figure.name += fmt::format("-{}", before + 1);
    }
  }
  return out;
}

}  // namespace assay::lab
