// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Many rows judged together: which of them differ, when chance has as many tries as there are rows.
//
// The obvious way, a p-value for each row and a correction for their number (Holm, Benjamini and
// Hochberg), is blind here: R rounds have 2^R patterns of signs, so no row's p can be below 2/2^R,
// and a row ten times slower is lost among two rows of six rounds. What tells it from chance is how
// far it lies, not on which side. So each row gets a statistic in units of its own error, and what
// chance does to the largest of all is seen by rearranging the values themselves, by one
// rearrangement for all rows, which keeps whatever they have in common (Westfall and Young, 1993).
// The adjusted p of a row then has the same least value whatever the number of rows.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lab/stats/evidence.h"
#include "lab/stats/interval.h"

namespace assay::lab {

struct FamilySettings {
  bool one_sided = false;  // true: only "worse by more than the threshold" counts
  double alpha = 0.05;     // rows that could never reach it are not in the family
  int draws = 9999;        // of rearrangements, where there are more than can all be tried
  std::uint64_t seed = 1;
};

struct FamilyP {
  double own = 1;       // as if the row were alone
  double adjusted = 1;  // the chance that any row of the family would show as much
  bool judged = false;  // false: too few values for any p ≤ alpha; then both are 1
};

// For each row, in its order: does ln(current/baseline) differ from `thresholds[i]`?
//
// Statistic: the mean over its standard error, a tenth of the values cut off at either end (from
// ten values on), the variance moderated by those of the other rows (moderation.h). Rearrangements:
// the signs of d − threshold, one sign for each round (paired), labels of the attempts (unpaired):
// all of them up to 2^13, else `draws`, fewer where rows × values are many. Adjusted step by step
// from the largest statistic down: rows that are found do not hide others.
//
// Valid where a round's two values, or the attempts of both sides, could be exchanged if nothing
// were there; no shape of the noise is assumed. Values that are not finite (paired) or not positive
// and finite (unpaired) are refused with a UserError.
std::vector<FamilyP> judge_family(std::span<const Evidence> rows,
                                  std::span<const double> thresholds,
                                  const FamilySettings& settings);

// The same for "does it differ at all": thresholds of 0.
std::vector<FamilyP> judge_family(std::span<const Evidence> rows,
                                  const FamilySettings& settings = {});

// What a row may be called: its interval and the family together, so that no verdict contradicts
// the interval beside it.
enum class Shown {
  kTooFew,   // there is no interval
  kNothing,  // the interval holds 1
  kPerhaps,  // it does not, but the family does not confirm it, as some intervals of many leave out
             // 1 by chance; or it is not wholly outside the margin
  kBelow,    // the whole interval lies below 1, and the family confirms it
  kAbove,
};
// What two runs of one program, made apart, differ by on an ordinary machine, relative: attempts of
// one run share what the machine was like, so no test among them knows how much another run would
// shift.
inline constexpr double kBetweenRuns = 0.05;
// What two builds of one program differ by in the same rounds though nothing was changed: code and
// data lie elsewhere in memory, and every round sees that alike. Copies of one file were seen to
// differ by 0.2 %.
inline constexpr double kBetweenBuilds = 0.005;

// `margin`: relative, what sides differ by with nothing changed; the interval must lie wholly
// outside [1/(1 + margin), 1 + margin] for more than kPerhaps.
Shown what_is_shown(const std::optional<Interval>& of_ratio, const FamilyP& p, double alpha = 0.05,
                    double margin = 0);

inline bool is_difference(Shown shown) { return shown == Shown::kBelow || shown == Shown::kAbove; }

// The least p of a row of so many rounds. R < 6 can show nothing at 5 %.
double least_paired_p(int rounds, bool one_sided = false);

}  // namespace assay::lab
