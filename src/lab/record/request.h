// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "lab/record/protocol.h"

namespace assay::lab {

// A case that is defined in a file: what it depends on, as it was when the run was begun.
struct RequestedFile {
  std::string case_name;
  std::string path;  // absolute
  // Contents by path, of the case file itself and of every file that it names; empty: there was no
  // such file.
  std::map<std::string, std::string> sha256;
};

// One side of a comparison of builds: a contender named `provider@label` is that provider run by
// this worker program (an `assay-worker` of another build) instead of our own. Sides of one point
// share its rounds, so that they are paired like any two providers. Native providers only: a Python
// provider under a label with a worker is skipped with the reason.
struct RunSide {
  std::string label;   // letters, digits, '.', '_', '-'
  std::string worker;  // path; empty: our own worker, so that both sides are the same code
  std::string commit;  // what that worker was built from; empty: not known
  bool dirty = false;  // with changes that were not committed
  // The case as this side has it, in a file of its own: its providers are those that run here.
  std::optional<RequestedFile> case_file = std::nullopt;
};

// What the user asked for. It is written beside the journal before the first attempt and repeated
// in every row, so that a run can be continued, and repeated, from what it left.
struct RunRequest {
  std::vector<std::string> cases;
  std::vector<RequestedFile> case_files;  // those of the cases that are in no program
  std::string mode = "standard";          // quick, standard, all, points
  Json points;                            // for mode "points": an object or a list of objects
  // Each a provider's id, or `id@label` for the same provider under another name; row.provider is
  // exactly what stands here. A label that `sides` does not list is our own worker. Empty: all
  // providers of the case, or where there are sides, each of them on every side.
  std::vector<std::string> providers;
  std::vector<RunSide> sides;
  std::vector<std::string> skip;  // providers to leave out
  std::string baseline;           // whom ratios refer to; empty: the case's own, if that runs
  std::vector<std::string> platforms = {"cpu"};
  int rounds = 10;  // with a precision: the most there can be
  // Above 0: measure until every ratio is known to ± this share, looked at only after the rounds of
  // kLooks (lab/stats/stopping.h); `rounds` is then kMaxRounds.
  double precision = 0;
  // Above 0: no attempt starts when the run has taken so long. Points share it evenly; what one
  // does not need goes to those after it.
  double budget_s = 0;
  MeasureSettings settings;
  double time_limit_s = 600;
  std::uint64_t memory_limit = 0;  // bytes an attempt may use; 0: most of what is free at the start
  int cpu_slots = 1;
  int gpus = 1;               // that are used at the same time, by a slot each
  int cores = 0;              // per attempt; 0: all cores over the slots
  double settle_s = 0;        // wait inside the lock before each attempt
  double max_steal = 0.02;    // more excludes the attempt
  double max_foreign = 0.02;  // likewise: other programs' share of its cores' time
  int max_tries = 3;          // of an attempt that keeps being excluded
  std::uint64_t order_seed = 0;
  bool in_process = false;
  std::string label;
  std::string commit;  // what is measured, where that is not this program
};

// The defaults of --quick: representative points, fewer rounds, less steady time in fewer batches.
inline constexpr int kQuickRounds = 6;
inline constexpr double kQuickSteadyS = 0.1;
inline constexpr int kQuickBatches = kMinBatches;

// What `assay run` takes where nothing else is said: other values with --quick.
RunRequest default_request(bool quick);

Json request_to_json(const RunRequest& request);
// Keys that are missing, as they are in requests of earlier versions, have their usual values.
// Throws UserError naming `what`.
RunRequest request_from_json(const Json& json, std::string_view what);

// An argument of `assay run`: a flag has no value, the name of a case no option.
struct RunArgument {
  std::string option, value;
};
// What follows `assay run` to ask for the same again: every value that is not the usual one. The
// command line has no words for sides: the caller says so.
std::vector<RunArgument> run_arguments(const RunRequest& request);

}  // namespace assay::lab
