// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rows of two selections, put beside each other where they may be compared, and nowhere else.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "lab/beside/summary.h"
#include "lab/record/metrics.h"
#include "lab/record/row.h"
#include "lab/stats/gate.h"

namespace assay::lab {

// All rows that one side has of a key.
struct MatchSide {
  Summary summary;             // status, failure, median of the metric, attempts
  std::vector<double> values;  // of the metric, one for each ok attempt, in the order made
  ByRound rounds;              // those that pair: interleaved with their run's other attempts
  bool deterministic = false;  // no clock is involved, as all its rows say
  // Of the steady times of all ok attempts, where the rows have them: the fastest batch, and the
  // 95 % quantile over all batches (or, without samples, the median of the attempts' own).
  std::optional<double> fastest, p95;
};

struct Match {
  SeriesId key;  // what rows of both sides share
  std::string metric;
  bool more_is_better = false;
  std::optional<MatchSide> a, b;
};

struct MatchOptions {
  bool by_provider = false;  // each side is one provider: leave it out of the key
  std::string metric = {};   // empty: each case's primary one
};

// Every key that either side has, ordered by suite, case, point, platform, machine, provider.
// Throws UserError for a metric that is not in the registry.
std::vector<Match> match_rows(std::span<const Row> a, std::span<const Row> b,
                              const MatchOptions& options = {});

// What rows of one key are compared by: the metric asked for (a UserError where it is not in the
// registry) or, where none is, the primary one, by the word of the newest row that has one.
std::string compared_metric(std::initializer_list<const RowPointers*> sides,
                            const std::string& asked);

// How a side's median is shown; a dash where there is none. Names are cut to this width in tables.
std::string median_text(const std::optional<MatchSide>& side, const std::string& metric);
constexpr int kMatchNameWidth = 40;

enum class Pairing { kPaired, kUnpaired };
std::string_view name_of(Pairing pairing);

// The values of a match as lab/stats takes them: b is the current side, a the baseline; larger is
// worse (reciprocals where more is better). Paired when the sides share rounds of a run, from those
// rounds alone; unpaired otherwise. Nothing when a side is not ok throughout, or has no value: what
// is wrong can win nothing.
struct MatchEvidence {
  Pairing pairing = Pairing::kUnpaired;
  Evidence values;
  int a_unused = 0, b_unused = 0;  // ok attempts outside the shared rounds
};
std::optional<MatchEvidence> evidence_of(const Match& match);

}  // namespace assay::lab
