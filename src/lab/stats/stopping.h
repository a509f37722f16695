// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// When to stop measuring. Looking after every round and stopping at the first nice result finds
// nice results in noise; looking at seven fixed moments, and only at the width of the interval,
// leaves the coverage where it was (docs/methods/statistics.md).

#include <array>
#include <optional>

#include "lab/stats/interval.h"

namespace assay::lab {

inline constexpr std::array<int, 7> kLooks = {10, 14, 20, 28, 40, 56, 80};
inline constexpr int kMaxRounds = kLooks.back();

// The first look after this many rounds; nothing after the last.
std::optional<int> next_look(int rounds);
bool is_look(int rounds);

// Half the width of the interval of a ratio, relative: exp(½·ln(high/low)) − 1, so that 0.01 reads
// "known to ± 1 %". Ends are positive (UserError otherwise).
double precision_of(const Interval& ratio);

enum class Stopping {
  kContinue,   // measure on to the next look
  kMet,        // the interval is narrow enough
  kExhausted,  // the last look has passed, and it is not
};
// What to do after `rounds` rounds, given the interval of the ratio (nothing: not available) and
// the precision asked for. Between looks the answer is always kContinue, whatever the interval.
// Throws UserError unless target > 0.
Stopping decide(int rounds, const std::optional<Interval>& ratio, double target);

}  // namespace assay::lab
