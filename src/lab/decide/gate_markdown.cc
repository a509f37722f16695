// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// A gate's result as a comment on a pull request.

#include <fmt/format.h>

#include <algorithm>

#include "lab/decide/gate.h"
#include "lab/record/point.h"
#include "lab/show/markdown/markdown.h"
#include "lab/show/terminal/cells.h"

namespace assay::lab {
namespace {

// A comment on GitHub has at most 65 536 characters.
constexpr std::size_t kMostShown = 50, kMostFolded = 100;
constexpr int kCellWidth = 60, kReasonWidth = 120;

bool wants_eyes(const GateEntry& e) {
  using enum GateOutcome;
  return e.outcome == kBroken || e.outcome == kRegressed || e.outcome == kUnresolved;
}

std::string ratio_text(const GateEntry& e) {
  if (e.simple) {
    return fmt::format("{} min, {} p95", format_ratio(e.simple->min_ratio),
                       format_ratio(e.simple->p95_ratio));
  }
  return e.pairing ? format_ratio(e.numbers.ratio, e.numbers.interval) : "–";
}

// At most so many rows, and a line that says how many are left out.
std::string entries_table(const std::vector<const GateEntry*>& entries, std::size_t most) {
  std::vector<std::vector<std::string>> rows;
  for (const auto* e : entries) {
    if (rows.size() == most) break;
    const auto& key = e->match.key;
    rows.push_back(
        {outcome_name(e->outcome), markdown_text(key.case_name, kCellWidth),
         markdown_text(point_label(key.point), kCellWidth), markdown_text(key.provider, kCellWidth),
         median_text(e->match.a, e->match.metric), median_text(e->match.b, e->match.metric),
         markdown_text(ratio_text(*e)), markdown_text(e->reason, kReasonWidth)});
  }
  auto text = markdown_table(
      {"Verdict", "Case", "Point", "Provider", "Baseline", "Current", "Ratio", "Why"}, "llllrrll",
      rows);
  if (entries.size() > most) text += fmt::format("\n… and {} more\n", entries.size() - most);
  return text;
}

}  // namespace

std::string gate_markdown(const GateResult& result, const std::string& baseline,
                          const std::string& current) {
  std::vector<const GateEntry*> shown, folded;
  for (const auto& e : result.entries) (wants_eyes(e) ? shown : folded).push_back(&e);
  const auto notes = gate_notes(result, baseline, current);
  std::string text = fmt::format("**{}**\n\n", markdown_text(notes.front()));
  if (!shown.empty()) text += entries_table(shown, kMostShown) + "\n";
  text += fmt::format("<details><summary>{}</summary>\n\n",
                      folded.empty()
                          ? "what this rests on"
                          : fmt::format("{} other rows, and what this rests on", folded.size()));
  if (!folded.empty()) text += entries_table(folded, kMostFolded) + "\n";
  for (std::size_t i = 1; i < notes.size(); ++i) {
    text += fmt::format("- {}\n", markdown_text(notes[i], 400));
  }
  return text + "\n</details>\n";
}

}  // namespace assay::lab
