// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/precision.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "lab/stats/paired_ratio.h"

namespace assay::lab {
namespace {

using ByRound = std::map<int, double>;

// The contender's ok values by round; nothing once it has failed for good.
std::optional<ByRound> values_of(const PointPlan& plan, const Contender& contender,
                                 std::span<const Row> rows, int rounds) {
  const auto metric = plan.definition->primary_metric().name;
  ByRound values;
  for (const auto& row : rows) {
    if (row.round >= rounds || row.provider != contender.name ||
        row.platform != contender.platform || row.case_name != plan.definition->name() ||
        row.point != plan.point || is_void(row.status)) {
      continue;
    }
    const double value = row.metric_or_nan(metric);
    if (row.status != Status::kOk || !(value > 0)) return std::nullopt;
    values[row.round] = value;
  }
  return values;
}

}  // namespace

PointPrecision assess_precision(const PointPlan& plan, std::span<const Row> rows, int rounds,
                                double target) {
  PointPrecision state;
  state.rounds = rounds;
  bool all_met = true;
  for (std::size_t i = 0; i < plan.contenders.size(); ++i) {
    const auto& contender = plan.contenders[i];
    const auto reference = reference_of(plan, i);
    if (contender.refused || contender.provider.deterministic() || !reference) continue;
    const auto own = values_of(plan, contender, rows, rounds);
    const auto other = values_of(plan, plan.contenders[*reference], rows, rounds);
    if (!own || !other) continue;
    std::vector<double> a, b;
    for (const auto& [round, value] : *own) {
      if (const auto it = other->find(round); it != other->end()) {
        a.push_back(value);
        b.push_back(it->second);
      }
    }
    std::optional<Interval> interval;
    if (!a.empty()) interval = paired_ratio(a, b).interval;
    state.precision[contender.name] =
        interval ? precision_of(*interval) : std::numeric_limits<double>::infinity();
    all_met = all_met && decide(rounds, interval, target) == Stopping::kMet;
  }
  if (state.precision.empty()) {
    state.decision = rounds >= kLooks.front() ? Stopping::kExhausted : Stopping::kContinue;
  } else if (all_met) {
    state.decision = Stopping::kMet;
  } else if (rounds >= kMaxRounds) {
    state.decision = Stopping::kExhausted;
  }
  return state;
}

StopRecord stop_record(const PointPrecision& state, double target, bool out_of_budget) {
  StopRecord record;
  record.rounds = state.rounds;
  record.decision = "continue";
  record.precision = state.precision;
  for (const auto& [name, value] : state.precision) {
    record.worst = std::max(record.worst.value_or(0), value);
  }
  if (target > 0) record.target = target;
  auto& decision = record.decision;
  if (state.decision == Stopping::kMet) {
    decision = "met";
  } else if (out_of_budget) {
    decision = "budget";
  } else if (state.decision == Stopping::kExhausted) {
    decision = state.precision.empty() ? "no_ratio" : "exhausted";
  }
  return record;
}

}  // namespace assay::lab
