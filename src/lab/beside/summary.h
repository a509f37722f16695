// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// From rows to what all views show: one summary for each provider at each point on each machine.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "lab/beside/pairs.h"
#include "lab/beside/place.h"
#include "lab/record/row.h"
#include "lab/stats/family.h"
#include "lab/stats/paired_ratio.h"

namespace assay::lab {

// What rows of older versions do not carry themselves: by case name. A row's own
// provenance.baseline and provenance.primary_metric go before it.
struct CaseFacts {
  std::string baseline;
  std::string primary_metric = "steady_time";
};
using CaseFactsByName = std::map<std::string, CaseFacts, std::less<>>;

// One attempt as a sparkline shows it.
struct Attempt {
  Status status = Status::kOk;
  double value = 0;  // of the primary metric; NaN when it has none that can be used
};

// The attempts of one provider at one place.
struct Summary : SeriesId {
  // ok when all attempts that are not void are ok; else the most telling of them, the first of:
  // wrong_result, crashed, out_of_memory, timeout, failed, ok, env_missing, skipped. (A failure
  // outweighs any number of successes; having been measured outweighs not having been tried.) Void
  // attempts (excluded, interrupted) count only when there is nothing else.
  Status status = Status::kOk;
  std::optional<Failure> failure;  // of the newest attempt with that status
  bool as_expected = false;        // a provider that is there to be refused, and was
  std::map<Status, int> counts;    // attempts by status, void ones included
  int rounds = 0;                  // rounds with a measured attempt (ok or wrong_result)
  std::vector<std::string> runs;
  // On which GPUs the rows of this point that may count were made, all providers' (device_of()).
  std::vector<std::string> devices;
  int other_contents = 0;  // attempts left out: the files of the case held something else then

  std::string metric;  // the primary one
  // Median of the attempts' values: of the ok attempts or, where there are none, of wrong ones.
  std::optional<double> median;

  std::string baseline;  // empty: not known
  bool is_baseline = false;
  // This provider over the baseline, from rounds of one run in which both were ok; 1 without an
  // interval for the baseline itself. Nothing when there is no such round, or when either side
  // gave a wrong result in any round: what is wrong can win nothing.
  std::optional<PairedRatio> ratio;
  // What the ratio shows, all summaries that were made together being one family.
  FamilyP p;
  Shown shown = Shown::kTooFew;

  std::optional<double> fraction_of_limit;  // median over ok attempts
  bool above_ceiling = false;  // an ok attempt was faster than a bound: that is out of date
  std::optional<double> fidelity_error;      // the worst; 1 is the tolerance
  bool unjudged = false;                     // an ok attempt that no oracle looked at
  std::optional<double> peak_rss;            // bytes: the largest of all phases and attempts
  std::optional<double> peak_device_memory;  // bytes that the provider itself took there
  int disturbed = 0;         // attempts that were kept though disturbed at every try
  std::string disturbance;   // of the last of them
  std::string unequal_work;  // how its work differs from the case's; empty: equal

  // What it takes where it computes: the device's memory on platform `cuda`, where the rows know
  // it, else the processes'.
  std::optional<double> peak_memory() const;

  std::vector<Attempt> attempts;  // in the order they were made
  // The usable values of those that ended so.
  std::vector<double> values(Status ended) const;
  std::vector<std::string> caveats;  // in words, one sentence each
};

// Of attempts that are repetitions of each other, whatever they are called, in the order they were
// made: all but what needs a baseline (ratio, caveats).
Summary summarise_series(SeriesId series, std::span<const Row* const> attempts,
                         const std::string& metric);

// Summaries ordered by suite, case, point, platform, machine, cores; the baseline first, then by
// provider. Deterministic; the order of the rows does not matter.
std::vector<Summary> summarise(std::span<const Row> rows, const CaseFactsByName& cases = {});

// {run_id, journal, results: [{suite, case, point, provider, platform, status, rounds, median_s,
// ratio, ratio_low, ratio_high, p_adjusted, baseline, fraction_of_limit, fidelity_error,
// peak_rss, peak_device_memory}]}, with null where something is not known (or run_id, journal are
// empty). median_s is null when the primary metric is no time.
Json summary_json(const std::string& run_id, const std::string& journal,
                  std::span<const Summary> summaries);

}  // namespace assay::lab
