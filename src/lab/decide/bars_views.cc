// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Bars and what became of them, as others take them: JSON, a page, a table.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "lab/decide/bars.h"
#include "lab/record/point.h"
#include "lab/show/markdown/markdown.h"
#include "lab/show/terminal/cells.h"

namespace assay::lab {
namespace {

constexpr int kWidth = 200;  // columns of a cell

std::string figure_text(const Bar& bar, double value) {
  if (bar.over) return format_ratio(value);
  const auto sign = value < 0 ? "−" : "";  // a difference may be below nothing
  return sign + format_metric(std::abs(value), bar.side.metric);
}

std::string bar_text(const Bar& bar) {
  std::string text;
  if (bar.at_least) text = "≥ " + figure_text(bar, *bar.at_least);
  if (bar.at_most) {
    text += (text.empty() ? "≤ " : " and ≤ ") + figure_text(bar, *bar.at_most);
  }
  switch (bar.scope) {
    case BarScope::kOne:
      return text;
    case BarScope::kEach:
      return text + (bar.share < 1 ? fmt::format(" at {:.4g} % of points", 100 * bar.share)
                                   : " at each point");
    case BarScope::kMean:
      return text + " in the mean";
    case BarScope::kTotal:
      return text + " in all";
  }
  return text;
}

std::string value_text(const Bar& bar, const BarFigure& figure) {
  if (figure.verdict == BarVerdict::kWrong) return "a wrong result, or none";
  auto text = figure_text(bar, figure.value);
  if (figure.interval) {
    text += fmt::format(" [{}, {}]", figure_text(bar, figure.interval->low),
                        figure_text(bar, figure.interval->high));
  } else if (!figure.point.is_null()) {
    text += fmt::format(", {}", plural(figure.rounds, "round"));
  }
  auto remarks = figure.remarks;
  if (!figure.paired) remarks.insert(remarks.begin(), "unpaired");
  return remarks.empty() ? text : fmt::format("{} ({})", text, fmt::join(remarks, ", "));
}

// How far a figure is on the wrong side, differences as they are and all else in the logarithm;
// larger is worse.
double badness(const Bar& bar, const BarFigure& figure) {
  if (figure.verdict == BarVerdict::kWrong) return INFINITY;
  if (bar.minus) {
    return std::max(bar.at_most ? figure.value - *bar.at_most : -INFINITY,
                    bar.at_least ? *bar.at_least - figure.value : -INFINITY);
  }
  if (!(figure.value > 0)) return bar.at_least ? INFINITY : -INFINITY;
  return std::max(bar.at_most ? std::log(figure.value / *bar.at_most) : -INFINITY,
                  bar.at_least ? std::log(*bar.at_least / figure.value) : -INFINITY);
}

// The figure, or how many points keep the bar and the worst of them.
std::string result_text(const Bar& bar, const BarResult& result) {
  if (result.figures.empty()) return "–";
  const auto unmeasured = result.unmeasured > 0
                              ? fmt::format(", {} not measured", plural(result.unmeasured, "point"))
                              : std::string();
  if (bar.scope != BarScope::kEach || result.figures.size() == 1) {
    return value_text(bar, result.figures.front()) + unmeasured;
  }
  // What is missed before what is open before what is met.
  const auto worst = std::ranges::max_element(result.figures, {}, [&](const BarFigure& figure) {
    const int rank = figure.verdict == BarVerdict::kMet    ? 0
                     : figure.verdict == BarVerdict::kOpen ? 1
                                                           : 2;
    return std::pair(rank, badness(bar, figure));
  });
  const auto met = std::ranges::count(result.figures, BarVerdict::kMet, &BarFigure::verdict);
  const auto missed = std::ranges::count(result.figures, BarVerdict::kMissed, &BarFigure::verdict);
  return fmt::format("{} of {} met, {} missed{}; worst {} at {}", met,
                     result.figures.size() + static_cast<std::size_t>(result.unmeasured), missed,
                     unmeasured, value_text(bar, *worst), point_label(worst->point));
}

Json figure_json(const BarFigure& figure) {
  return {{"point", figure.point},
          {"value", number_to_json(figure.value)},
          {"low", figure.interval ? number_to_json(figure.interval->low) : Json()},
          {"high", figure.interval ? number_to_json(figure.interval->high) : Json()},
          {"rounds", figure.rounds},
          {"paired", figure.paired},
          {"remarks", figure.remarks},
          {"verdict", name_of(figure.verdict)}};
}

std::string marked(BarVerdict verdict) {
  const std::string name(name_of(verdict));
  const bool bad = verdict == BarVerdict::kMissed || verdict == BarVerdict::kWrong;
  return bad ? "**" + name + "**" : name;
}

std::string cell(const Bar& bar, const BarResult& result) {
  if (result.verdict == BarVerdict::kNotMeasured) return "–";
  return markdown_text(result_text(bar, result), kWidth) + ": " + marked(result.verdict);
}

// Where something is not met, on which machine.
template <typename Visit>
void visit_results(const BarOutcome& outcome, Visit visit) {
  for (const auto& section : outcome.sections) {
    for (const auto& line : section.lines) {
      for (std::size_t i = 0; i < line.results.size(); ++i) {
        visit(section, line.bar, line.results[i], outcome.machines[i].name);
      }
    }
  }
}

bool measured_somewhere(const BarOutcome::Line& line) {
  return std::ranges::any_of(line.results, [](const BarResult& result) {
    return result.verdict != BarVerdict::kNotMeasured;
  });
}

std::string counts(const BarOutcome& outcome) {
  std::map<BarVerdict, int> count;
  visit_results(outcome, [&](const auto&, const auto&, const BarResult& result, const auto&) {
    ++count[result.verdict];
  });
  std::string text;
  for (const auto& [verdict, number] : count) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, name_of(verdict));
  }
  return text;
}

}  // namespace

Json bars_json(const BarOutcome& outcome) {
  Json bars = Json::array();
  visit_results(outcome, [&](const BarOutcome::Section& section, const Bar& bar,
                             const BarResult& result, const std::string& machine) {
    Json figures = Json::array();
    for (const auto& figure : result.figures) figures.push_back(figure_json(figure));
    bars.push_back({{"table", section.title},
                    {"what", bar.what},
                    {"machine", machine},
                    {"at_least", bar.at_least ? Json(*bar.at_least) : Json()},
                    {"at_most", bar.at_most ? Json(*bar.at_most) : Json()},
                    {"verdict", name_of(result.verdict)},
                    {"unmeasured", result.unmeasured},
                    {"figures", std::move(figures)}});
  });
  Json machines = Json::array();
  for (const auto& machine : outcome.machines) {
    machines.push_back({{"name", machine.name},
                        {"attempts", machine.attempts},
                        {"runs", machine.runs},
                        {"commits", machine.commits},
                        {"first", machine.first},
                        {"last", machine.last}});
  }
  return {{"title", outcome.title}, {"machines", std::move(machines)}, {"bars", std::move(bars)}};
}

std::string bars_markdown(const BarOutcome& outcome) {
  std::string page = "# " + markdown_text(outcome.title) + "\n";
  std::string misses;
  for (const auto& section : outcome.sections) {
    std::vector<std::string> titles = {"What", "Bar"};
    for (const auto& machine : outcome.machines) titles.push_back(markdown_text(machine.name));
    std::vector<std::vector<std::string>> rows;
    for (const auto& line : section.lines) {
      if (!measured_somewhere(line)) continue;
      const auto& [bar, results] = line;
      rows.push_back({markdown_text(bar.what, kWidth), markdown_text(bar_text(bar))});
      for (const auto& result : results) rows.back().push_back(cell(bar, result));
    }
    if (rows.empty()) continue;
    page += "\n## " + markdown_text(section.title) + "\n\n" +
            markdown_table(titles, std::string(titles.size(), 'l'), rows);
    if (!section.commands.empty()) page += "\n" + markdown_code(section.commands);
  }
  visit_results(outcome, [&](const BarOutcome::Section& section, const Bar& bar,
                             const BarResult& result, const std::string& machine) {
    if (result.verdict != BarVerdict::kMissed && result.verdict != BarVerdict::kWrong) return;
    misses +=
        fmt::format("- {}, {}, {}: {}, wanted {}{}\n", markdown_text(section.title),
                    markdown_text(bar.what, kWidth), markdown_text(machine),
                    markdown_text(result_text(bar, result), kWidth), markdown_text(bar_text(bar)),
                    bar.note.empty() ? "" : ". " + markdown_text(bar.note, 400));
  });
  page += "\n## Missed\n\n" + (misses.empty() ? "Nothing.\n" : misses);
  std::string missing;
  for (const auto& section : outcome.sections) {
    for (const auto& line : section.lines) {
      if (measured_somewhere(line)) continue;
      missing += fmt::format("- {}, {}\n", markdown_text(section.title),
                             markdown_text(line.bar.what, kWidth));
    }
  }
  if (!missing.empty()) page += "\n## Not measured on any machine\n\n" + missing;
  page += "\n## Measured\n\n";
  std::vector<std::vector<std::string>> machines;
  for (const auto& machine : outcome.machines) {
    machines.push_back(
        {markdown_text(machine.name), std::to_string(machine.attempts),
         std::to_string(machine.runs.size()),
         markdown_text(machine.first == machine.last ? machine.last
                                                     : machine.first + " to " + machine.last),
         markdown_text(fmt::format("{}", fmt::join(machine.commits, ", ")), kWidth)});
  }
  page += markdown_table({"Machine", "Attempts", "Runs", "When", "Commits"}, "lrrll", machines);
  return page + "\nOf all: " + counts(outcome) + ".\n";
}

std::string bars_table(const BarOutcome& outcome, const TableStyle& style) {
  Grid grid;
  grid.columns = {{"what"}, {"bar", false, 2}, {"measured", false, 1}, {"verdict"}};
  visit_results(outcome, [&](const BarOutcome::Section& section, const Bar& bar,
                             const BarResult& result, const std::string& machine) {
    if (result.verdict == BarVerdict::kNotMeasured && !style.all) return;
    const bool bad = result.verdict == BarVerdict::kMissed || result.verdict == BarVerdict::kWrong;
    grid.rows.push_back({printable(section.title + ", " + machine),
                         {printable(bar.what), bar_text(bar), printable(result_text(bar, result)),
                          std::string(name_of(result.verdict))},
                         bad                                  ? kRed
                         : result.verdict == BarVerdict::kMet ? kGreen
                                                              : kYellow});
  });
  std::ranges::stable_sort(grid.rows, {}, &GridRow::group);
  grid.notes = {counts(outcome)};
  return render_grid(grid, style);
}

}  // namespace assay::lab
