// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/history_confirm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/machine.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/measure/run_setup.h"
#include "cli/measure/side_runs.h"
#include "cli/terminal.h"
#include "lab/decide/compare.h"
#include "lab/show/terminal/cells.h"

namespace assay::cli {
namespace {

constexpr int kDefaultRounds = 20;
constexpr double kConfirmationBudgetS = 600;

struct Change {
  const lab::HistorySeries* series;
  const lab::HistoryChange* change;
  const lab::HistoryPoint& before() const { return series->points[change->before]; }
  const lab::HistoryPoint& after() const { return series->points[change->after]; }
};

// The change asked for, or the newest, in every series that has it.
std::vector<Change> chosen_changes(std::span<const lab::HistorySeries> all, const std::string& at) {
  std::vector<Change> changes;
  for (const auto& series : all) {
    for (const auto& change : series.changes) {
      const Change one{&series, &change};
      if (at.empty() || one.after().commit.starts_with(at)) changes.push_back(one);
    }
  }
  if (changes.empty()) {
    at.empty() ? fail("no change to confirm: the history shows none")
               : fail("no change to confirm at commit '{}'", at);
  }
  const auto newest = *std::ranges::max_element(
      changes, {}, [](const Change& c) { return c.after().runs.front(); });
  std::erase_if(changes, [&](const Change& c) {
    return c.before().commit != newest.before().commit ||
           c.after().commit != newest.after().commit ||
           c.series->key.cores != newest.series->key.cores;
  });
  return changes;
}

SideProgram program_for(const std::string& given, const lab::HistoryPoint& point,
                        const std::string& build) {
  if (!given.empty()) return side_program(given, build);
  if (point.commit.empty() || point.dirty) {
    fail("only a clean commit can be built again, not '{}'; give its worker by --before or --after",
         point.label());
  }
  return side_program(point.commit, build);
}

struct Finding {
  std::string text;
  int status = kFine;
};

// What the comparison says of the change the history showed.
Finding finding_of(const lab::Comparison& c, const lab::HistoryChange& change,
                   bool more_is_better) {
  const auto seen = lab::format_ratio(change.ratio);
  if (!c.compared)
    return {fmt::format("not compared: {}", c.verdict("before", "after")), kUnresolved};
  const bool same_way = c.differs() && (c.ratio > 1) == (change.ratio > 1);
  if (same_way) {
    const bool worse = (change.ratio > 1) != more_is_better;
    return {fmt::format("confirmed: {} in the same rounds, {} in the history",
                        lab::format_ratio(c.ratio), seen),
            worse ? kRegression : kFine};
  }
  const double size = std::exp(std::fabs(std::log(change.ratio))) - 1;
  if (c.interval && c.detectable <= size) {
    return {fmt::format("not confirmed: {} in the same rounds, which would have shown {:.2g} %; "
                        "{} in the history",
                        lab::format_ratio(c.ratio), 100 * c.detectable, seen),
            kFine};
  }
  return {fmt::format("unresolved: these rounds show {:.2g} % and more, the history {}",
                      100 * c.detectable, seen),
          kUnresolved};
}

lab::RunRequest request_of(const HistoryArguments& a, const std::vector<Change>& changes) {
  lab::RunRequest r;
  r.cases = {changes.front().series->key.case_name};
  r.mode = "points";
  std::set<Json> points;
  for (const auto& c : changes) points.insert(c.series->key.point);
  r.points = Json(points);
  r.rounds = kDefaultRounds;
  r.budget_s = kConfirmationBudgetS;
  r.cores = changes.front().series->key.cores;
  apply(a.measure, r);
  r.label = "confirm";
  return r;
}

}  // namespace

int confirm_change(const HistoryArguments& a, std::span<const lab::HistorySeries> series) {
  const auto changes = chosen_changes(series, a.at);
  RunSetup setup;
  const auto& name = changes.front().series->key.case_name;
  if (std::ranges::none_of(setup.cases().all(), [&](const auto& c) { return c->name() == name; })) {
    fail(
        "'{}' is a case of a file of yours: check out both commits, and measure them together by "
        "assay compare --run OLD NEW FILE.toml",
        name);
  }
  const auto request = request_of(a, changes);
  const auto before = program_for(a.before, changes.front().before(), a.build);
  const auto after = program_for(a.after, changes.front().after(), a.build);
  SideRuns runs(setup, sides_of("before", before, "after", after),
                a.journals.empty() ? "results" : a.journals);
  std::set<std::string> providers;
  for (const auto& c : changes) providers.insert(c.series->key.provider);
  RunSetup::catch_interrupts();
  if (!runs.measure(request, {providers.begin(), providers.end()})) return kInterrupted;

  const lab::CompareSettings settings;
  const auto comparisons = lab::compare_matches(
      lab::match_rows(runs.first_rows(), runs.second_rows(), {.metric = a.metric}), settings);
  Json json = lab::comparisons_json(comparisons, before.name, after.name, settings);
  std::string lines;
  int status = kFine;
  const auto machine = read_machine().fingerprint();
  for (const auto& c : changes) {
    const auto& key = c.series->key;
    const auto it = std::ranges::find_if(comparisons, [&](const lab::Comparison& one) {
      return one.match.key.point == key.point && one.match.key.provider == key.provider;
    });
    const auto finding = it == comparisons.end()
                             ? Finding{"not measured", kUnresolved}
                             : finding_of(*it, *c.change, c.series->more_is_better);
    const bool elsewhere = key.fingerprint != machine;
    lines += fmt::format("{}{}: {}\n", fit(printable(key.provider), 40),
                         elsewhere ? " (seen on another machine than this)" : "", finding.text);
    json["confirmations"].push_back(Json{{"series", key.to_json()},
                                         {"from", c.before().label()},
                                         {"to", c.after().label()},
                                         {"history_ratio", number_to_json(c.change->ratio)},
                                         {"finding", finding.text}});
    const bool regression = status == kRegression || finding.status == kRegression;
    status = regression ? kRegression : std::max(status, finding.status);
  }
  if (!a.out.empty()) write_file_atomically(a.out, pretty_json(json) + "\n");
  if (a.json) {
    std::fputs((pretty_json(json) + "\n").c_str(), stdout);
  } else {
    std::fputs(
        lab::comparisons_table(comparisons, before.name, after.name, settings, stdout_style())
            .c_str(),
        stdout);
    std::fputs(lines.c_str(), stdout);
  }
  return status;
}

}  // namespace assay::cli
