// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/record/case.h"
#include "lab/record/request.h"
#include "lab/run/environment.h"
#include "lab/run/gpu.h"

namespace assay::lab {

// Decided before anything runs: how the single row of a provider that is not attempted reads.
struct Refusal {
  Status status = Status::kSkipped;
  Skip why;
};

// One provider on one platform at one point.
struct Contender {
  std::string name;  // what rows call it: the provider's id, or id@label
  Provider provider;
  std::string side_worker;  // the program behind the label; empty: our own worker
  std::string side_sha256;  // of its content: a path says nothing a week later
  std::string platform;
  std::vector<std::string> command;             // the worker's argv
  std::map<std::string, std::string> versions;  // known before it runs
  std::optional<Refusal> refused;
  // What its worker is told of the case, where its side has a file of its own; null: as the case.
  Json definition = nullptr;
};

// All attempts at one point; a provider whose environment or device is missing is among those of
// its case's first point alone. They share a core group and follow each other in balanced order.
struct PointPlan {
  const Case* definition = nullptr;
  Json point;
  std::vector<Contender> contenders;
  // Whom ratios refer to: whoever the request names, else the case's baseline provider (the first
  // name of it), else the first provider that was named. A contender that runs, if any does.
  std::string baseline;
  // order[round] lists indices into `contenders`. Refused and deterministic providers are not
  // there.
  std::vector<std::vector<int>> order;
};

// A deterministic provider needs no rounds and no process for each point: all its points in one.
struct DeterministicBatch {
  struct Member {
    std::size_t point, contender;  // indices into Plan::points and its contenders
  };
  std::vector<Member> members;
};

struct Plan {
  std::vector<PointPlan> points;
  std::vector<DeterministicBatch> batches;
  int attempts = 0;                // rows it leaves if nothing has to be tried again
  bool may_end_early = false;      // by precision or budget
  std::uint64_t memory_limit = 0;  // bytes an attempt may use
  // Of the attempts on platform cuda, core groups in turn; empty: there are none.
  std::vector<std::shared_ptr<RunGpu>> gpus;
};

// Throws UserError that names the flag for values that no run can have.
void check_request(const RunRequest& request);

// Which points, which providers, in which order, what is left out and why. Throws UserError for
// unknown cases, providers and bad points, and when nothing at all would run. `no_gpu`: why nothing
// runs on platform cuda.
Plan make_plan(const CaseRegistry& cases, const RunRequest& request, EnvironmentProbe& probe,
               const std::optional<Skip>& no_gpu, std::uint64_t memory_limit);

// Rows that a point leaves if nothing has to be tried again.
int attempts_at(const PointPlan& plan, const RunRequest& request);

// Leaves only those points; the others' rows are somebody else's.
void keep_points(Plan& plan, const RunRequest& request,
                 const std::function<bool(const PointPlan&)>& is_kept);

// Whom contender `i` is compared with when a precision is asked for: the first contender of the
// same provider and platform, otherwise the point's baseline on that platform. Nothing for those
// themselves, and where there is no such contender.
std::optional<std::size_t> reference_of(const PointPlan& plan, std::size_t i);

// The canonical points a request selects from a case, without repeats.
std::vector<Json> selected_points(const Case& definition, const RunRequest& request);

}  // namespace assay::lab
