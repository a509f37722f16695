// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a validation found: tables of measured figures, each beside the bound it has to keep.

#include <string>
#include <string_view>
#include <vector>

namespace assay::lab::validation {

enum class Outcome {
  kWithin,   // keeps its bound
  kOutside,  // does not: the program fails
  kShort,    // a limit of the method that docs/methods/statistics.md states, no worse than there
  kShown,    // no bound: shown for comparison
};

struct Table {
  std::string title;
  std::string note;  // one paragraph: what was drawn, how often, and the bound
  std::vector<std::string> columns;
  struct Line {
    std::vector<std::string> cells;
    Outcome outcome;
  };
  std::vector<Line> lines;

  void add(std::vector<std::string> cells, Outcome outcome) {
    lines.push_back({std::move(cells), outcome});
  }
};

// Markdown; the outcome is the last column of every line.
std::string to_markdown(const std::vector<Table>& tables);
bool any_outside(const std::vector<Table>& tables);

std::string percent(double share, int digits = 1);  // "95.2 %"

// Whether `count` of `trials` can come from a chance of at most (at least) `chance`: false when the
// binomial probability of so many (few) is below 1e-4, so that a hundred true bounds fail by
// accident once in a hundred sets of seeds.
bool can_be_at_most(int count, int trials, double chance);
bool can_be_at_least(int count, int trials, double chance);

// How much of everything: 1 for the published figures, less for a quick look.
struct Effort {
  double share = 1;
  bool full() const { return share >= 1; }
  int trials(int full, int least = 100) const;
};

std::vector<Table> why_attempts(const Effort& effort);
std::vector<Table> p_values(const Effort& effort);
std::vector<Table> coverage(const Effort& effort);
std::vector<Table> power(const Effort& effort);
std::vector<Table> stop_rule(const Effort& effort);
std::vector<Table> families(const Effort& effort);
std::vector<Table> changes(const Effort& effort);
std::vector<Table> gate_on_drawn_times(const Effort& effort);

}  // namespace assay::lab::validation
