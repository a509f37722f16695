// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which values may be paired: those of one round of one run, in which both attempts were ok, were
// made in turn and, on a GPU, on the same one (a run may be resumed on another machine of the
// kind). The one rule for tables, reports, pages, figures, gates and stopping.

#include <compare>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/record/row.h"
#include "lab/stats/paired_ratio.h"

namespace assay::lab {

struct RoundId {
  std::string run_id;
  int round = 0;
  std::string device = {};  // device_of() the attempt

  auto operator<=>(const RoundId& other) const = default;
};
RoundId round_of(const Row& row);

using ByRound = std::map<RoundId, double>;
using RowPointers = std::vector<const Row*>;

// The attempt's value where it is positive and finite; NaN where there is none that a ratio or a
// median could use.
double usable_value(const Row& row, const std::string& metric);
// The same of ok attempts alone.
double ok_value(const Row& row, const std::string& metric);

// Whether the row was measured in turn with the others of its round, as what may be paired is.
bool made_in_turn(const Row& row);

// The value of each round that was ok and whose attempts were made in turn; of the last try, should
// there be several. Rows come in the order they were made.
ByRound values_by_round(std::span<const Row* const> rows, const std::string& metric);

// The values of the rounds that both have.
struct Pairs {
  std::vector<double> a, b;

  int rounds() const { return static_cast<int>(a.size()); }
  std::vector<double> log_ratios() const;    // ln a − ln b of each round
  std::optional<PairedRatio> ratio() const;  // a over b; nothing without a common round
};
Pairs pair_rounds(const ByRound& a, const ByRound& b);

// What was wrong once can win nothing, in any round.
bool was_wrong(std::span<const Row* const> rows);

// rows over baseline; none where either was wrong once.
Pairs pairs_beside(std::span<const Row* const> rows, std::span<const Row* const> baseline,
                   const std::string& metric);

}  // namespace assay::lab
