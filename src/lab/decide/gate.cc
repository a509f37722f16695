// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/decide/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/names.h"
#include "base/text.h"
#include "lab/show/terminal/cells.h"
#include "lab/stats/calibration.h"
#include "lab/stats/sign_interval.h"

namespace assay::lab {
namespace {

enum class Health { kOk, kBroken, kUntried, kVoid };

Health health_of(const MatchSide& side) {
  const auto& s = side.summary;
  if (s.status == Status::kOk) return Health::kOk;
  // A provider that is there to be refused, and was, is as it should be and has nothing to gate.
  if (s.as_expected) return Health::kUntried;
  if (is_void(s.status)) return Health::kVoid;
  const bool untried = s.status == Status::kSkipped || s.status == Status::kEnvMissing;
  return untried ? Health::kUntried : Health::kBroken;
}

std::string status_of(const MatchSide& side) {
  auto text = verdict_cell(side.summary);
  const auto message = side.summary.failure ? side.summary.failure->message : std::string();
  if (!message.empty()) text += ": " + fit(printable(message), 120);
  return text;
}

// What follows from the statuses alone; nothing where both sides are ok, or were skipped alike.
std::optional<GateOutcome> outcome_of_statuses(GateEntry& entry) {
  const auto& match = entry.match;
  if (!match.a) {
    entry.reason = health_of(*match.b) == Health::kOk
                       ? "not in the baseline"
                       : "not in the baseline; " + status_of(*match.b);
    return GateOutcome::kNew;
  }
  if (!match.b) {
    entry.reason = "not among the current rows";
    return GateOutcome::kDropped;
  }
  const auto before = health_of(*match.a), now = health_of(*match.b);
  if (before == Health::kOk && (now == Health::kBroken || now == Health::kUntried)) {
    entry.reason = "was ok, is " + status_of(*match.b);
    return now == Health::kBroken ? GateOutcome::kBroken : GateOutcome::kNotMeasured;
  }
  if (now == Health::kOk && (before == Health::kBroken || before == Health::kUntried)) {
    entry.reason = "was " + status_of(*match.a) + ", is ok";
    return before == Health::kBroken ? GateOutcome::kRecovered : GateOutcome::kNew;
  }
  if (before == Health::kBroken) {
    entry.reason = now == Health::kBroken
                       ? "still " + status_of(*match.b)
                       : "was " + status_of(*match.a) + ", is " + status_of(*match.b);
    return GateOutcome::kStillBroken;
  }
  if (now == Health::kBroken) {  // it was never tried before, or not to its end
    entry.reason = "was " + status_of(*match.a) + ", is " + status_of(*match.b);
    return GateOutcome::kNew;
  }
  if (before == Health::kVoid || now == Health::kVoid) {
    entry.reason = "no attempt of one side counts: " +
                   status_of(before == Health::kVoid ? *match.a : *match.b);
    return GateOutcome::kUnresolved;
  }
  return std::nullopt;
}

std::string threshold_text(double relative) { return fmt::format("{:.3g} %", 100 * relative); }

std::string reason_of(const GateEntry& e, const GateOptions& options) {
  const auto limit = format_ratio(1 + e.tolerance);
  const auto ratio = format_ratio(e.numbers.ratio, e.numbers.interval);
  switch (e.numbers.verdict) {
    case Verdict::kPass:
      return fmt::format("{} lies below {}", ratio, limit);
    case Verdict::kRegressed:
      return fmt::format("{} exceeds {}, p = {:.2g} over all rows", ratio, limit,
                         e.numbers.p_adjusted);
    case Verdict::kUnresolved:
      break;
  }
  if (!e.numbers.interval) {
    return e.pairing == Pairing::kPaired
               ? fmt::format("{} paired rounds give no interval, at least {} are needed",
                             e.numbers.rounds, minimum_rounds(options.confidence))
               : fmt::format("{} attempts on the smaller side give no interval", e.numbers.rounds);
  }
  const bool above = e.numbers.interval->low > 1 + e.tolerance;
  const auto about =
      above ? fmt::format("above {}, but p = {:.2g} over all rows", limit, e.numbers.p_adjusted)
            : fmt::format("holds {}", limit);
  // The formula is for one row and large samples: what it has asked for already was not enough.
  const int needed = e.numbers.rounds_for_tolerance;
  const auto needs = needed > e.numbers.rounds
                         ? fmt::format("about {} rounds", needed)
                         : fmt::format("more than its {} rounds", e.numbers.rounds);
  return fmt::format("{} {}; would see {}, needs {}", ratio, about,
                     threshold_text(e.numbers.detectable), needs);
}

void judge_by_intervals(std::vector<GateEntry*>& entries, const GateOptions& options) {
  std::vector<Evidence> evidence;
  std::vector<double> tolerances;  // machines have floors of their own
  for (auto* entry : entries) {
    auto found = evidence_of(entry->match);
    check(found.has_value(), "rows that are judged have values");
    entry->pairing = found->pairing;
    evidence.push_back(std::move(found->values));
    tolerances.push_back(entry->tolerance);
  }
  const auto rows =
      decide_gate(evidence, tolerances,
                  {.alpha = options.alpha / options.looks, .confidence = options.confidence});
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i]->numbers = rows[i];
  for (auto* entry : entries) {
    entry->reason = reason_of(*entry, options);
    entry->outcome = entry->numbers.verdict == Verdict::kPass        ? GateOutcome::kPass
                     : entry->numbers.verdict == Verdict::kRegressed ? GateOutcome::kRegressed
                                                                     : GateOutcome::kUnresolved;
  }
}

void judge_by_min_p95(GateEntry& entry) {
  const auto &a = *entry.match.a, &b = *entry.match.b;
  if (!a.fastest || !b.fastest || !a.p95 || !b.p95) {
    entry.outcome = GateOutcome::kUnresolved;
    entry.reason = "a side has no minimum or no 95 % quantile of its steady times";
    return;
  }
  entry.simple = min_p95_rule(*b.fastest, *b.p95, *a.fastest, *a.p95);
  entry.outcome = entry.simple->regressed ? GateOutcome::kRegressed : GateOutcome::kPass;
  entry.numbers.ratio = entry.simple->min_ratio;
  entry.reason = fmt::format("minimum {} (limit {}), 95 % quantile {} (limit {})",
                             format_ratio(entry.simple->min_ratio), format_ratio(kMinLimit),
                             format_ratio(entry.simple->p95_ratio), format_ratio(kP95Limit));
}

// Without a clock there is no noise, and one attempt is all there is to know.
void judge_deterministic(GateEntry& entry) {
  const double a = entry.match.a->values.back(), b = entry.match.b->values.back();
  const double ratio = entry.match.more_is_better ? a / b : b / a;
  entry.numbers.ratio = ratio;
  entry.outcome = ratio > 1 + entry.tolerance ? GateOutcome::kRegressed : GateOutcome::kPass;
  entry.reason = fmt::format("{} {} {}, deterministic", format_ratio(ratio),
                             ratio > 1 + entry.tolerance ? "exceeds" : "does not exceed",
                             format_ratio(1 + entry.tolerance));
}

// The order in which a person wants to see them.
constexpr std::array<GateOutcome, 9> kWorstFirst = {
    GateOutcome::kBroken,      GateOutcome::kRegressed,   GateOutcome::kUnresolved,
    GateOutcome::kStillBroken, GateOutcome::kNotMeasured, GateOutcome::kDropped,
    GateOutcome::kNew,         GateOutcome::kRecovered,   GateOutcome::kPass};

auto place_in_order(GateOutcome outcome) { return std::ranges::find(kWorstFirst, outcome); }

}  // namespace

constexpr auto kGateOutcomeNames =
    make_names<GateOutcome>({{GateOutcome::kPass, "PASS"},
                             {GateOutcome::kRegressed, "REGRESSED"},
                             {GateOutcome::kUnresolved, "UNRESOLVED"},
                             {GateOutcome::kBroken, "BROKEN"},
                             {GateOutcome::kRecovered, "RECOVERED"},
                             {GateOutcome::kStillBroken, "STILL BROKEN"},
                             {GateOutcome::kNotMeasured, "NOT MEASURED"},
                             {GateOutcome::kNew, "NEW"},
                             {GateOutcome::kDropped, "DROPPED"}});

const char* outcome_name(GateOutcome outcome) { return kGateOutcomeNames[outcome].data(); }

int GateResult::count(GateOutcome outcome) const {
  return static_cast<int>(std::ranges::count(entries, outcome, &GateEntry::outcome));
}

bool GateResult::compared_nothing() const {
  return !entries.empty() && std::ranges::none_of(entries, [](const GateEntry& e) {
    return e.match.a.has_value() && e.match.b.has_value();
  });
}

GateResult judge_gate(std::span<const Row> baseline, std::span<const Row> current,
                      const GateOptions& options) {
  if (!(options.delta >= 0) || !std::isfinite(options.delta)) {
    fail("gate: the tolerance must be finite and not negative, got {}", options.delta);
  }
  if (!(options.alpha > 0 && options.alpha < 1)) {
    fail("gate: alpha must lie between 0 and 1, got {}", options.alpha);
  }
  check(options.looks >= 1, "a gate looks at least once");
  GateResult result;
  result.options = options;
  std::set<std::string> uncalibrated;
  for (auto& match : match_rows(baseline, current, {.metric = options.metric})) {
    GateEntry entry;
    const auto& machine = match.key.fingerprint;
    const auto floor = options.floor ? options.floor(machine) : std::nullopt;
    entry.tolerance = effective_tolerance(options.delta, floor.value_or(0));
    entry.calibrated = floor.has_value();
    if (floor) {
      result.floors[machine] = *floor;
    } else {
      uncalibrated.insert(machine);
    }
    entry.match = std::move(match);
    result.entries.push_back(std::move(entry));
  }
  result.uncalibrated.assign(uncalibrated.begin(), uncalibrated.end());

  // Both sides skipped, or refused as they should be: nothing to judge, nothing to name.
  result.skipped_on_both_sides = static_cast<int>(std::erase_if(result.entries, [](GateEntry& e) {
    return !outcome_of_statuses(e) && health_of(*e.match.a) != Health::kOk;
  }));
  std::vector<GateEntry*> to_judge;
  for (auto& entry : result.entries) {
    if (const auto outcome = outcome_of_statuses(entry)) {
      entry.outcome = *outcome;
    } else if (options.rule == GateRule::kMinP95) {
      judge_by_min_p95(entry);
    } else if (entry.match.a->values.empty() || entry.match.b->values.empty()) {
      entry.outcome = GateOutcome::kUnresolved;
      entry.reason =
          fmt::format("a side has no value of {}", fit(printable(entry.match.metric), 40));
    } else if (entry.match.a->deterministic && entry.match.b->deterministic) {
      judge_deterministic(entry);
    } else {
      to_judge.push_back(&entry);
    }
  }
  if (!to_judge.empty()) judge_by_intervals(to_judge, options);
  std::ranges::stable_sort(result.entries, [](const GateEntry& x, const GateEntry& y) {
    return place_in_order(x.outcome) < place_in_order(y.outcome);
  });
  return result;
}

}  // namespace assay::lab
