// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/machine.h"
#include "lab/record/calibration.h"
#include "lab/record/request.h"
#include "lab/record/row.h"
#include "lab/run/execute.h"
#include "lab/run/noise.h"
#include "lab/run/plan.h"
#include "lab/run/provenance.h"

namespace assay::lab {

// What all rows of a run have in common.
struct RunFacts {
  std::string run_id;
  Machine machine;
  RunRequest request;
  Provenance provenance;
  // Of the cases that are in files, by name: what they are part of, which is what is measured.
  std::map<std::string, SourceTree> own_trees;
  double harness_overhead_s = 0;
  std::optional<Ceilings> ceilings;        // of this machine, where they were measured
  std::optional<Calibration> calibration;  // likewise
};

// One process that was run, and what the machine did meanwhile.
struct Measured {
  AttemptOutcome outcome;
  NoiseSnapshot before, after;
  std::int64_t start_ns = 0;     // since the Unix epoch
  std::optional<GpuRecord> gpu;  // of an attempt on a GPU
  double own_s = 0;              // processor time of the attempt and of its runner meanwhile
  std::int64_t elapsed_ns = 0;   // by the monotonic clock: the other one may be set meanwhile
};

// What a worker says its calls took against the clock of the runner, which saw the phase `steady`
// last at least `seen_s`, the whole process `wall_s`, and others have the cores for `waited_s` of
// it: why that cannot be, or nothing.
std::string impossible_times(const WorkerReport& report, double seen_s, double wall_s,
                             double waited_s);

// The answers of a point, computed when first needed and kept for its rounds.
class Expectations {
 public:
  // `run_id` draws the rows where only some are computed.
  Expectations(const Case& definition, const Json& point, std::string_view run_id);
  const std::vector<Expectation>& operator()(int set);

 private:
  const Case& definition_;
  const Json& point_;
  std::int64_t draw_;
  std::map<int, std::vector<Expectation>> by_set_;
};

// A row with everything that is known before the attempt.
Row blank_row(const RunFacts& facts, const PointPlan& plan, const Contender& contender, int round,
              int try_number, const std::vector<int>& cpus);

// Adds what the attempt left: status, times, verdict. Contamination is decided before any time is
// looked at, and the judge speaks before the attempt may count. An attempt that was disturbed is
// excluded, or where `may_repeat` is false kept with a mark.
void fill_row(Row& row, const RunFacts& facts, const Measured& measured, std::size_t point,
              const Case& definition, const Provider& provider, Expectations& expectations,
              bool may_repeat = true);

// Adds why nothing was attempted.
void refuse_row(Row& row, const Refusal& refusal);

}  // namespace assay::lab
