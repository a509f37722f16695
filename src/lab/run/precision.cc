// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/precision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "lab/beside/pairs.h"

namespace assay::lab {
namespace {

// The contender's ok values by round; nothing once it has failed for good.
std::optional<ByRound> values_of(const PointPlan& plan, const Contender& contender,
                                 std::span<const Row> rows, int rounds) {
  const std::string metric(plan.definition->primary_metric().name);
  RowPointers own;
  for (const auto& row : rows) {
    if (row.round >= rounds || row.provider != contender.name ||
        row.platform != contender.platform || row.case_name != plan.definition->name() ||
        row.point != plan.point || is_void(row.status)) {
      continue;
    }
    if (std::isnan(ok_value(row, metric))) return std::nullopt;
    own.push_back(&row);
  }
  return values_by_round(own, metric);
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
    const auto ratio = pair_rounds(*own, *other).ratio();
    const auto interval = ratio ? ratio->interval : std::nullopt;
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
