// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>

#include "base/text.h"
#include "lab/decide/history.h"
#include "lab/decide/match.h"
#include "lab/record/point.h"
#include "lab/show/terminal/cells.h"
#include "lab/show/terminal/table.h"

namespace assay::lab {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr int kSparkline = 60;

Json point_json(const HistoryPoint& p) {
  return {{"label", p.label()},
          {"commit", p.commit.empty() ? Json() : Json(p.commit)},
          {"dirty", p.dirty},
          {"runs", p.runs},
          {"status", name_of(p.status)},
          {"attempts", p.attempts},
          {"median", p.median ? number_to_json(*p.median) : Json()},
          {"low", p.interval ? number_to_json(p.interval->low) : Json()},
          {"high", p.interval ? number_to_json(p.interval->high) : Json()}};
}

std::string title_of(const HistorySeries& s) { return group_title(s.key); }

std::string trend_of(const HistorySeries& s) {
  std::vector<Attempt> attempts;
  for (const auto& p : s.points)
    attempts.push_back({p.median ? Status::kOk : p.status, p.median.value_or(kNone)});
  return sparkline(attempts, kSparkline);
}

std::string label_of(const HistorySeries& s, std::size_t i) {
  return fit(printable(s.points[i].label()), 24);
}

std::string verdict_of(const HistorySeries& s, const HistoryChange& change) {
  const Metric* metric = find_metric(s.metric);
  const bool is_time = metric != nullptr && metric->kind == MetricKind::kTime;
  const char* word = is_time ? (change.ratio > 1 ? "slower" : "faster")
                             : (change.ratio > 1 ? "larger" : "smaller");
  return fmt::format("{} since {} (p = {:.2g})", word, label_of(s, change.after), change.p);
}

}  // namespace

Json history_json(std::span<const HistorySeries> all, const HistoryOptions& options) {
  Json list = Json::array();
  for (const auto& s : all) {
    Json entry = s.key.to_json();
    Json points = Json::array(), changes = Json::array(), segments = Json::array();
    for (const auto& p : s.points) points.push_back(point_json(p));
    for (const auto& c : s.changes) {
      changes.push_back(Json{{"before", c.before},
                             {"after", c.after},
                             {"from", s.points[c.before].label()},
                             {"to", s.points[c.after].label()},
                             {"ratio", number_to_json(c.ratio)},
                             {"p", c.p}});
    }
    for (const auto& g : s.segments) {
      segments.push_back(
          Json{{"first", g.first}, {"last", g.last}, {"level", number_to_json(g.level)}});
    }
    entry.update(Json{{"metric", s.metric},
                      {"more_is_better", s.more_is_better},
                      {"p", s.p},
                      {"points", std::move(points)},
                      {"changes", std::move(changes)},
                      {"segments", std::move(segments)}});
    list.push_back(std::move(entry));
  }
  return {{"case", options.case_name.empty() ? Json() : Json(options.case_name)},
          {"false_discoveries", options.change.rate},
          {"min_segment", options.change.min_segment},
          {"series", std::move(list)}};
}

std::string history_table(std::span<const HistorySeries> all, const HistoryOptions& options,
                          const TableStyle& style) {
  if (all.empty()) return "no rows\n";
  Grid grid;
  grid.columns = {{"provider"},     {"commits"},           {"points", true}, {"level", true},
                  {"change", true}, {"history", false, 1}, {"verdict"}};
  std::size_t changed = 0, short_ones = 0;
  for (const auto& s : all) {
    changed += !s.changes.empty();
    std::size_t valued = 0;
    for (const auto& p : s.points) valued += p.median.has_value();
    const bool is_short = valued < 2 * static_cast<std::size_t>(options.change.min_segment);
    short_ones += is_short;
    const auto provider = fit(printable(s.key.provider), kMatchNameWidth);
    if (s.segments.empty()) {
      grid.rows.push_back(
          {title_of(s),
           {provider, "–", "0", "–", "–", trend_of(s),
            s.points.empty() ? "no rows" : std::string(name_of(s.points.back().status))},
           kYellow});
      continue;
    }
    for (std::size_t i = 0; i < s.segments.size(); ++i) {
      const auto& g = s.segments[i];
      std::size_t points = 0;
      for (std::size_t j = g.first; j <= g.last; ++j) points += s.points[j].median.has_value();
      GridRow row;
      row.group = title_of(s);
      row.cells = {i == 0 ? provider : "",
                   g.first == g.last
                       ? label_of(s, g.first)
                       : fmt::format("{} … {}", label_of(s, g.first), label_of(s, g.last)),
                   fmt::format("{}", points),
                   format_metric(g.level, s.metric),
                   i == 0 ? "–" : format_ratio(s.changes[i - 1].ratio),
                   i == 0 ? trend_of(s) : "",
                   i > 0               ? verdict_of(s, s.changes[i - 1])
                   : is_short          ? "too short to say"
                   : s.changes.empty() ? fmt::format("no change shown (p = {:.2g})", s.p)
                                       : "–"};
      if (i > 0) row.colour = (s.changes[i - 1].ratio > 1) != s.more_is_better ? kRed : kGreen;
      grid.rows.push_back(std::move(row));
    }
  }
  grid.notes.push_back(
      fmt::format("{} series: {} changed, {} too short to say (fewer than {} points)", all.size(),
                  changed, short_ones, 2 * options.change.min_segment));
  grid.notes.push_back(
      fmt::format("note: one point for each commit; a + marks a tree with uncommitted changes; "
                  "change points at "
                  "a false discovery rate of {:.3g} % over the series",
                  100 * options.change.rate));
  if (changed > 0) {
    grid.notes.push_back(
        "note: points of different days share no rounds: --confirm measures the two commits beside "
        "each other");
  }
  return render_grid(grid, style);
}

}  // namespace assay::lab
