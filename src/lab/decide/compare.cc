// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "lab/record/fields.h"
#include "lab/show/terminal/cells.h"
#include "lab/show/terminal/table.h"

namespace assay::lab {
namespace {

std::string shortened(const std::string& name) { return fit(printable(name), kMatchNameWidth); }

// All but what the other rows have a say in. Adds the evidence where there is any.
Comparison judged(Match match, const CompareSettings& settings, std::vector<Evidence>& family) {
  Comparison c;
  c.match = std::move(match);
  const auto evidence = evidence_of(c.match);
  if (!evidence) return c;
  c.compared = true;
  c.pairing = evidence->pairing;
  c.a_unused = evidence->a_unused;
  c.b_unused = evidence->b_unused;
  const auto row = describe_row(
      evidence->values,
      {.tolerance = settings.effect, .alpha = settings.alpha, .confidence = settings.confidence});
  c.ratio = row.ratio;
  c.interval = row.interval;
  if (c.match.more_is_better) {  // the evidence was of the reciprocals
    c.ratio = 1 / c.ratio;
    if (c.interval) {
      c.interval = Interval{1 / row.interval->high, 1 / row.interval->low, row.interval->coverage};
    }
  }
  c.rounds = row.rounds;
  c.detectable = row.detectable;
  c.rounds_needed = row.rounds_for_tolerance;
  family.push_back(evidence->values);
  return c;
}

std::string side_status(const MatchSide& side) {
  if (side.summary.status != Status::kOk) return verdict_cell(side.summary);
  return side.values.empty() ? "no value of this metric" : "ok";
}

std::string percent_text(double relative) {
  return std::isfinite(relative) ? fmt::format("{:.2g} %", 100 * relative) : "–";
}

Json compared_side_json(const std::optional<MatchSide>& side) {
  if (!side) return nullptr;
  const auto& s = side->summary;
  return {{"provider", s.provider},
          {"status", name_of(s.status)},
          {"median", value_to_json(s.median)},
          {"attempts", side->values.size()},
          {"fidelity_error", value_to_json(s.fidelity_error)},
          {"peak_rss", value_to_json(s.peak_rss)},
          {"unequal_work", s.unequal_work.empty() ? Json() : Json(s.unequal_work)},
          {"runs", s.runs}};
}

}  // namespace

std::string Comparison::verdict(const std::string& a, const std::string& b) const {
  if (!match.a) return fmt::format("only in {}", b);
  if (!match.b) return fmt::format("only in {}", a);
  if (!compared) {
    const auto sa = side_status(*match.a), sb = side_status(*match.b);
    if (sa == sb) return "both: " + sa;
    return sa == "ok"   ? fmt::format("{}: {}", b, sb)
           : sb == "ok" ? fmt::format("{}: {}", a, sa)
                        : fmt::format("{}: {}; {}: {}", a, sa, b, sb);
  }
  std::string work;
  for (const auto* side : {&match.a, &match.b}) {
    if (!(*side)->summary.unequal_work.empty()) work = " (unequal work)";
  }
  if (shown == Shown::kTooFew) return "too few to say" + work;
  if (shown == Shown::kNothing) return "no difference shown" + work;
  const Metric* metric = find_metric(match.metric);
  const bool smaller = ratio < 1;
  const bool is_time = metric != nullptr && metric->kind == MetricKind::kTime;
  return fmt::format("{} is {}{}", b, differs() ? "" : "perhaps ",
                     is_time ? (smaller ? "faster" : "slower") : (smaller ? "smaller" : "larger")) +
         work;
}

std::vector<Comparison> compare_matches(std::vector<Match> matches,
                                        const CompareSettings& settings) {
  std::vector<Comparison> comparisons;
  std::vector<Evidence> family;
  for (auto& match : matches) comparisons.push_back(judged(std::move(match), settings, family));
  const auto p = judge_family(family, {.alpha = settings.alpha});
  std::size_t next = 0;
  for (auto& c : comparisons) {
    if (!c.compared) continue;
    c.p = p[next++];
    const double margin =
        c.pairing == Pairing::kUnpaired ? settings.between_runs : settings.between_builds;
    c.shown = what_is_shown(c.interval, c.p, settings.alpha, margin);
    c.within_margin = c.shown == Shown::kPerhaps && c.p.adjusted <= settings.alpha;
  }
  return comparisons;
}

Json comparisons_json(std::span<const Comparison> comparisons, const std::string& a_name,
                      const std::string& b_name, const CompareSettings& settings) {
  Json list = Json::array();
  for (const auto& c : comparisons) {
    Json entry = c.match.key.to_json();
    const auto number = [&](double value) { return c.compared ? number_to_json(value) : Json(); };
    entry.update(
        Json{{"metric", c.match.metric},
             {"pairing", c.compared ? Json(name_of(c.pairing)) : Json()},
             {"ratio", number(c.ratio)},
             {"low", c.interval ? number_to_json(c.interval->low) : Json()},
             {"high", c.interval ? number_to_json(c.interval->high) : Json()},
             {"p", number(c.p.own)},
             {"p_adjusted", number(c.p.adjusted)},
             {"differs", c.compared ? Json(c.differs()) : Json()},
             {"verdict", c.verdict(a_name, b_name)},
             {"rounds", c.rounds},
             {"minimum_detectable_effect", number(c.detectable)},
             {"rounds_needed", c.compared && c.rounds_needed > 0 ? Json(c.rounds_needed) : Json()},
             {"a", compared_side_json(c.match.a)},
             {"b", compared_side_json(c.match.b)}});
    list.push_back(std::move(entry));
  }
  return {{"a", a_name},
          {"b", b_name},
          {"ratio_is", "b over a"},
          {"alpha", settings.alpha},
          {"confidence", settings.confidence},
          {"effect", settings.effect},
          {"between_runs", settings.between_runs},
          {"between_builds", settings.between_builds},
          {"comparisons", std::move(list)}};
}

std::string comparisons_table(std::span<const Comparison> comparisons, const std::string& a_name,
                              const std::string& b_name, const CompareSettings& settings,
                              const TableStyle& style) {
  const auto a = shortened(a_name), b = shortened(b_name);
  bool by_provider = true, other_metric = false;
  for (const auto& c : comparisons) {
    by_provider = by_provider && c.match.key.provider.empty();
    other_metric = other_metric || c.match.metric != "steady_time";
  }
  Grid grid;
  if (!by_provider) grid.columns.push_back({"provider"});
  if (other_metric) grid.columns.push_back({"metric", false, 3});
  for (const auto& column : {GridColumn{"A", true, 5},
                             {"B", true, 5},
                             {"B / A"},
                             {"how", false, 4},
                             {"would see", true, 2},
                             {"needs", true, 1},
                             {"verdict"}}) {
    grid.columns.push_back(column);
  }
  int unpaired = 0, differ = 0, perhaps = 0, within_runs = 0, within_builds = 0, same = 0, few = 0,
      uncompared = 0, unused = 0;
  for (const auto& c : comparisons) {
    const auto& summary = c.match.a ? c.match.a->summary : c.match.b->summary;
    GridRow row;
    row.group = group_title(summary);
    if (!by_provider) row.cells.push_back(shortened(c.match.key.provider));
    if (other_metric) row.cells.push_back(shortened(c.match.metric));
    row.cells.push_back(median_text(c.match.a, c.match.metric));
    row.cells.push_back(median_text(c.match.b, c.match.metric));
    row.cells.push_back(c.compared ? format_ratio(c.ratio, c.interval) : "–");
    row.cells.push_back(c.compared ? fmt::format("{} {}", c.rounds, name_of(c.pairing)) : "–");
    const bool quiet = c.compared && !c.differs();
    row.cells.push_back(quiet && c.rounds > 1 ? "≥ " + percent_text(c.detectable) : "–");
    row.cells.push_back(quiet && c.rounds > 1 && c.rounds_needed > 0
                            ? fmt::format("{} rounds", c.rounds_needed)
                            : "–");
    row.cells.push_back(c.verdict(a, b));
    row.colour = !c.compared                               ? kYellow
                 : !c.differs()                            ? ""
                 : (c.ratio < 1) != c.match.more_is_better ? kGreen
                                                           : kRed;
    unpaired += c.compared && c.pairing == Pairing::kUnpaired;
    unused += c.a_unused + c.b_unused;
    (c.pairing == Pairing::kUnpaired ? within_runs : within_builds) += c.within_margin;
    ++(!c.compared                  ? uncompared
       : c.differs()                ? differ
       : c.shown == Shown::kPerhaps ? perhaps
       : c.interval                 ? same
                                    : few);
    grid.rows.push_back(std::move(row));
  }
  if (comparisons.empty()) return "no rows\n";
  grid.notes.push_back(fmt::format(
      "{} compared: {} differ,{} {} show no difference, {} have too few attempts to say; {} not "
      "compared",
      comparisons.size() - static_cast<std::size_t>(uncompared), differ,
      perhaps > 0 ? fmt::format(" {} perhaps,", perhaps) : "", same, few, uncompared));
  grid.notes.push_back(fmt::format(
      "note: A is {}, B is {}; a ratio below 1 says that B is smaller; intervals at {:.4g} %, "
      "at most {:.4g} % chance that any row is falsely said to differ",
      a, b, 100 * settings.confidence, 100 * settings.alpha));
  if (perhaps > within_runs + within_builds) {
    grid.notes.push_back(
        "note: perhaps: alone it would count; among so many rows chance shows as much");
  }
  if (same > 0) {
    grid.notes.push_back(fmt::format(
        "note: no difference shown is not none: \"would see\" is the smallest effect these rounds "
        "show four times in five, \"needs\" the rounds for an effect of {}",
        percent_text(settings.effect)));
  }
  if (unpaired > 0) {
    grid.notes.push_back(
        "note: unpaired: the sides share no rounds, so whatever changed on the machine between "
        "them is part of the ratio");
  }
  if (within_builds > 0) {
    grid.notes.push_back(fmt::format(
        "note: {} of the perhaps: two builds differ by up to {} with nothing changed, as code and "
        "data lie elsewhere in memory (--between-builds)",
        within_builds, percent_text(settings.between_builds)));
  }
  if (within_runs > 0) {
    grid.notes.push_back(fmt::format(
        "note: {} of the perhaps: runs made apart differ by up to {} with nothing changed "
        "(--between-runs); assay gate --run measures both sides in one run",
        within_runs, percent_text(settings.between_runs)));
  }
  if (unused > 0) {
    grid.notes.push_back(
        fmt::format("note: {} attempts outside the rounds both sides share are not used", unused));
  }
  return render_grid(grid, style);
}

}  // namespace assay::lab
