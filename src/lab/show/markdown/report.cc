// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/markdown/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "lab/beside/caveats.h"
#include "lab/record/point.h"
#include "lab/show/markdown/markdown.h"
#include "lab/show/markdown/report_sections.h"

namespace assay::lab {
namespace {

// At most a few of a list, and how many more there are.
std::string some_of(const std::vector<std::string>& items, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(items.size(), most); ++i) {
    text += (i > 0 ? "; " : "") + items[i];
  }
  if (items.size() > most) text += fmt::format("; and {} more", items.size() - most);
  return text;
}

std::string overview(std::span<const Row> rows) {
  std::set<std::string> runs, cases;
  std::map<Status, int> counts;
  for (const Row& row : rows) {
    runs.insert(row.run_id);
    cases.insert(row.case_name);
    ++counts[row.status];
  }
  std::string outcomes;
  for (const auto& [status, count] : counts) {
    outcomes += fmt::format("{}{} {}", outcomes.empty() ? "" : ", ", count, status_words(status));
  }
  return fmt::format("{} of {} in {}: {}.\n", plural(std::ssize(rows), "attempt"),
                     plural(std::ssize(cases), "case"), plural(std::ssize(runs), "run"), outcomes);
}

}  // namespace

std::string failures_section(std::span<const Row> rows, const MachineNames& machines) {
  struct Group {
    std::vector<Json> points;
    std::set<std::string> machines;
    int attempts = 0;
    bool expected = true;
  };
  // Case, provider, platform, status, code, message.
  using Key = std::tuple<std::string, std::string, std::string, Status, std::string, std::string>;
  std::map<Key, Group> groups;
  for (const Row& row : rows) {
    if (row.status == Status::kOk) continue;
    auto& group = groups[{row.case_name, row.provider, row.platform, row.status, row.failure->code,
                          row.failure->message}];
    if (std::ranges::find(group.points, row.point) == group.points.end()) {
      group.points.push_back(row.point);
    }
    group.machines.insert(machines.at(row.machine.fingerprint));
    ++group.attempts;
    group.expected = group.expected && row.as_expected();
  }
  if (groups.empty()) return {};
  std::vector<std::vector<std::string>> table;
  for (auto& [key, group] : groups) {
    const auto& [case_name, provider, platform, status, code, message] = key;
    std::ranges::sort(group.points);
    std::vector<std::string> points;
    for (const auto& point : group.points) points.push_back(markdown_text(point_label(point), 60));
    std::string where = some_of(points, 3);
    if (machines.size() > 1) {
      where += " on " + some_of({group.machines.begin(), group.machines.end()}, 3);
    }
    const auto reason = message.empty() ? code : message;
    table.push_back(
        {markdown_text(case_name, 40),
         fmt::format("{} ({})", markdown_text(provider, 40), markdown_text(platform, 20)),
         status_words(status) + (group.expected ? ", as expected" : ""),
         fmt::format(
             "{}{}", markdown_text(reason, 300),
             code.empty() || message.empty() ? "" : fmt::format(" ({})", markdown_text(code, 40))),
         where, fmt::format("{}", group.attempts)});
  }
  return "## Failures and skips\n\n" +
         markdown_table({"Case", "Provider", "Outcome", "Reason", "Where", "Attempts"}, "lllllr",
                        table);
}

std::string caveats_section(std::span<const Row> rows, std::span<const Summary> summaries,
                            const std::vector<std::string>& warnings) {
  std::string list;
  for (auto text : environment_caveats(rows)) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    list += fmt::format("- {}.\n", markdown_text(text, 400));
  }
  for (const auto& text : warnings) {
    list += fmt::format("- While reading: {}.\n", markdown_text(text, 400));
  }
  // Each sentence once, with those it is about, in the order of the results.
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> about;
  for (const Summary& s : summaries) {
    for (const auto& caveat : s.caveats) {
      auto& names = about[caveat];
      if (names.empty()) order.push_back(caveat);
      names.push_back(fmt::format("{} in {} at {}", markdown_text(s.provider, 40),
                                  markdown_text(s.case_name, 40),
                                  markdown_text(point_label(s.point), 60)));
    }
  }
  for (const auto& caveat : order) {
    list += fmt::format("- Of {}: {}.\n", some_of(about[caveat], 3), markdown_text(caveat, 400));
  }
  return list.empty() ? std::string() : "## Caveats\n\n" + list;
}

std::string markdown_report(std::span<const Row> rows, const ReportOptions& options) {
  std::string report = fmt::format("# {}\n\n", markdown_text(options.title));
  if (rows.empty()) {
    report += "There are no rows.\n";
    for (const auto& text : options.warnings) {
      report += fmt::format("\n- While reading: {}.\n", markdown_text(text, 400));
    }
    return report;
  }
  const auto summaries = summarise(rows, options.cases);
  const auto machines = name_machines(rows);
  report += overview(rows);
  for (const auto& section :
       {runs_section(rows), machines_section(rows, machines), results_section(summaries, machines),
        failures_section(rows, machines), caveats_section(rows, summaries, options.warnings),
        reproduce_section(rows)}) {
    if (!section.empty()) report += "\n" + section;
  }
  return report;
}

}  // namespace assay::lab
