// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/names.h"
#include "lab/stats/distributions.h"

namespace assay::lab::validation {
namespace {

constexpr double kAccident = 1e-4;

constexpr auto kOutcomeNames = make_names<Outcome>({{Outcome::kWithin, "within"},
                                                    {Outcome::kOutside, "**outside**"},
                                                    {Outcome::kShort, "short of it"},
                                                    {Outcome::kShown, "–"}});

const char* words(Outcome outcome) { return kOutcomeNames[outcome].data(); }

}  // namespace

std::string to_markdown(const std::vector<Table>& tables) {
  std::string text;
  for (const auto& table : tables) {
    text += fmt::format("\n### {}\n\n{}\n\n|", table.title, table.note);
    for (const auto& column : table.columns) text += fmt::format(" {} |", column);
    text += " bound |\n|";
    for (std::size_t i = 0; i <= table.columns.size(); ++i) text += i == 0 ? "---|" : "---:|";
    text += "\n";
    for (const auto& line : table.lines) {
      text += "|";
      for (const auto& cell : line.cells) text += fmt::format(" {} |", cell);
      text += fmt::format(" {} |\n", words(line.outcome));
    }
  }
  return text;
}

bool any_outside(const std::vector<Table>& tables) {
  return std::ranges::any_of(tables, [](const Table& table) {
    return std::ranges::any_of(
        table.lines, [](const Table::Line& line) { return line.outcome == Outcome::kOutside; });
  });
}

std::string percent(double share, int digits) {
  return fmt::format("{:.{}f} %", 100 * share, digits);
}

bool can_be_at_most(int count, int trials, double chance) {
  return 1 - binomial_cdf(trials, count - 1, chance) >= kAccident;
}

bool can_be_at_least(int count, int trials, double chance) {
  return binomial_cdf(trials, count, chance) >= kAccident;
}

int Effort::trials(int full, int least) const {
  return std::max(least, static_cast<int>(full * share));
}

}  // namespace assay::lab::validation
