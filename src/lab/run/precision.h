// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stopping by precision: how well the ratios of a point are known so far.

#include <map>
#include <span>
#include <string>

#include "base/json.h"
#include "lab/record/row.h"
#include "lab/run/plan.h"
#include "lab/stats/stopping.h"

namespace assay::lab {

struct PointPrecision {
  int rounds = 0;
  // By contender: half the relative width of the 95 % interval of its ratio to reference_of();
  // infinite where there is none yet. Contenders that failed in any round have no ratio and are not
  // waited for.
  std::map<std::string, double> precision;
  Stopping decision = Stopping::kContinue;  // of the point: met when every ratio is
};

// What the rows of a run say about a point after `rounds` rounds. A pure function of the rows, so
// that a resumed run decides as an uninterrupted one. A point without any ratio has nothing to be
// precise about: it is kExhausted from the first look on.
PointPrecision assess_precision(const PointPlan& plan, std::span<const Row> rows, int rounds,
                                double target);

// What the last row before a stop carries as provenance.stopping: {rounds, decision, target,
// precision, worst}; decision is "continue", "met", "exhausted", "budget" or "no_ratio".
StopRecord stop_record(const PointPrecision& state, double target, bool out_of_budget);

}  // namespace assay::lab
