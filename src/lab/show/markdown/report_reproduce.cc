// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "lab/record/request.h"
#include "lab/show/markdown/markdown.h"
#include "lab/show/markdown/report_sections.h"

namespace assay::lab {
namespace {

// A command is to be pasted: arguments that cannot be, or that nobody should, are left out, and the
// reader is told.
bool can_be_pasted(const std::string& word) {
  constexpr std::size_t kLongest = 4000;
  return word.size() <= kLongest && printable(word) == word &&
         word.find_first_of("<>`") == std::string::npos;
}

struct Command {
  std::string text = "assay run";
  bool complete = true;

  void add(const std::string& word) {
    if (can_be_pasted(word)) {
      text += " " + shell_word(word);
    } else {
      complete = false;
    }
  }
  // Nothing when the value is empty.
  void add(const std::string& option, const std::string& value) {
    if (value.empty()) return;
    if (can_be_pasted(value)) {
      text += fmt::format(" {} {}", option, shell_word(value));
    } else {
      complete = false;
    }
  }
};

bool is_commit(const std::string& text) {
  return text.size() >= 4 && text.size() <= 64 &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string list_of(const std::set<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ","));
}

// From what the runner was asked for.
Command from_request(const RunRequest& request) {
  Command command;
  for (const auto& [option, value] : run_arguments(request)) {
    if (option.empty() || value.empty()) {
      command.add(option + value);
    } else {
      command.add(option, value);
    }
  }
  if (!request.sides.empty()) command.complete = false;
  return command;
}

// From the rows themselves: what was measured, for rows that do not say what was asked for.
Command from_rows(const std::vector<const Row*>& rows) {
  std::set<std::string> cases, providers, platforms;
  std::set<int> rounds;
  std::vector<Json> points;
  for (const Row* row : rows) {
    cases.insert(row->case_name);
    providers.insert(row->provider);
    platforms.insert(row->platform);
    rounds.insert(row->round);
    if (std::ranges::find(points, row->point) == points.end()) points.push_back(row->point);
  }
  std::ranges::sort(points);
  Command command;
  for (const auto& name : cases) command.add(name);
  command.add("--points", canonical_json(points));
  command.add("--providers", list_of(providers));
  command.add("--platforms", list_of(platforms));
  command.add("--rounds", fmt::format("{}", rounds.size()));
  return command;
}

}  // namespace

std::string reproduce_section(std::span<const Row> rows) {
  std::map<std::string, std::vector<const Row*>> runs;
  for (const Row& row : rows) runs[row.run_id].push_back(&row);
  std::string text =
      "## How to do it again\n\n"
      "On a machine like those above, from the same commit; new rows are new evidence, and ratios "
      "should agree within their intervals.\n";
  std::map<std::string, std::vector<std::string>> by_block;
  std::vector<std::string> order;
  for (auto& [run_id, of_run] : runs) {
    const auto& any = **std::ranges::min_element(of_run, {}, &Row::attempt_id);
    const auto request = any.provenance.asked();
    const auto command = request ? from_request(*request) : from_rows(of_run);
    std::vector<std::string> lines;
    const auto commit = any.provenance.commit.value_or("");
    if (is_commit(commit)) lines.push_back("git checkout " + commit);
    if (any.provenance.dirty.value_or(false)) {
      lines.push_back("# the tree had uncommitted changes, which the rows do not hold");
    }
    lines.push_back(command.text);
    if (!command.complete) lines.push_back("# some of its arguments cannot be written here");
    const auto block = markdown_code(lines);
    if (!by_block.contains(block)) order.push_back(block);
    by_block[block].push_back(run_id);
  }
  for (const auto& block : order) {
    const auto& of = by_block[block];
    text += fmt::format("\nRun {}{}:\n\n{}", markdown_text(of.front(), 60),
                        of.size() > 1 ? fmt::format(" and {} more", of.size() - 1) : "", block);
  }
  return text;
}

}  // namespace assay::lab
