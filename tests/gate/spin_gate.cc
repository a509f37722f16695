// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// spin_gate WORKER TRIALS
//
// The gate end to end: real attempts in processes of their own, which spin for times drawn with
// process σ 1 %, call σ 1 % and 2 % spikes, 20 rounds, δ = 5 %. The same program under two names,
// δ/2 slower and 2δ slower; prints how often each verdict came, and fails when a rate cannot be
// that of the drawn times without a clock (lab/stats: validation of gate).
#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "cases/harness/cases.h"
#include "lab/run/runner.h"
#include "lab/stats/distributions.h"
#include "lab/stats/gate.h"

namespace assay::lab {
namespace {

constexpr double kTolerance = 0.05;
constexpr int kRounds = 20;

class Quiet : public Progress {
 public:
  void planned(const Plan&, int) override {}
  void starting(const PointPlan&, const Contender&, int) override {}
  void finished(const Row&) override {}
  void note(const std::string& message) override { std::fprintf(stderr, "%s\n", message.c_str()); }
};

RunRequest request_for(int slower_bp, int trials, int first_seed) {
  RunRequest request;
  request.cases = {"harness_spin"};
  request.mode = "points";
  request.points = Json::array();
  for (int t = 0; t < trials; ++t) {
    request.points.push_back(Json{{"slower_bp", slower_bp}, {"seed", first_seed + t}});
  }
  request.providers = {"spin", "spin@b", "spin-slower"};
  request.rounds = kRounds;
  // One call a batch, so that a batch is what was drawn.
  request.settings = {.warm_up_calls = 1, .batches = 10, .steady_s = 0.01};
  request.max_steal = 1;  // spinning on the clock does not mind
  request.max_foreign = 1;
  return request;
}

using Counts = std::map<Verdict, int>;

// The verdict on `current` against `spin` at each point.
Counts verdicts(const std::vector<Row>& rows, const std::string& current) {
  std::map<std::string, std::map<int, std::map<std::string, double>>> points;
  for (const auto& row : rows) {
    if (row.status == Status::kOk) {
      points[canonical_json(row.point)][row.round][row.provider] = row.metric_or_nan("steady_time");
    }
  }
  Counts counts;
  for (const auto& [point, rounds] : points) {
    PairedEvidence evidence;
    for (const auto& [round, times] : rounds) {
      if (times.contains(current) && times.contains("spin")) {
        evidence.d.push_back(std::log(times.at(current)) - std::log(times.at("spin")));
      }
    }
    const Evidence one = evidence;
    ++counts[decide_gate({&one, 1}, {.tolerance = kTolerance}).front().verdict];
  }
  return counts;
}

// Whether `count` of `trials` is possible where the chance is at least `least`.
bool can_be(int count, int trials, double least) {
  return binomial_cdf(trials, count, least) >= 1e-3;
}

int run(const std::string& worker, const std::string& program, int trials) {
  CaseRegistry cases;
  cases::harness::add_cases(cases);
  Quiet progress;
  const std::atomic<bool> stop = false;
  RunContext context;
  context.cases = &cases;
  context.programs.worker = worker;
  context.own_program = program;
  context.progress = &progress;
  context.stop = &stop;
  const TemporaryDirectory folder("assay-spin-gate");
  std::printf("| true change | runs | PASS | UNRESOLVED | REGRESSED | agrees |\n");
  std::printf("|---|---:|---:|---:|---:|---|\n");
  bool all = true;
  const auto line = [&](const char* name, Counts counts, int n, bool agrees) {
    std::printf("| %s | %d | %d | %d | %d | %s |\n", name, n, counts[Verdict::kPass],
                counts[Verdict::kUnresolved], counts[Verdict::kRegressed], agrees ? "yes" : "NO");
    all = all && agrees;
  };
  Counts same;
  int seed = 0;
  for (const auto& [name, slower_bp] : {std::pair{"+δ/2", 250}, std::pair{"+2δ", 1000}}) {
    const auto result = start_run(context, request_for(slower_bp, trials, seed),
                                  fmt::format("{}/{}.jsonl", folder.path(), slower_bp));
    seed += trials;
    auto counts = verdicts(result.rows, "spin-slower");
    const int flagged = counts[Verdict::kRegressed];
    line(name, counts, trials,
         slower_bp > 500 ? can_be(flagged, trials, 0.95) : can_be(trials - flagged, trials, 0.95));
    for (const auto& [verdict, count] : verdicts(result.rows, "spin@b")) same[verdict] += count;
    std::fflush(stdout);
  }
  line("none", same, 2 * trials, can_be(2 * trials - same[Verdict::kRegressed], 2 * trials, 0.99));
  return all ? 0 : 1;
}

}  // namespace
}  // namespace assay::lab

int main(int argc, char** argv) {
  const int trials = argc == 3 ? std::atoi(argv[2]) : 0;
  if (trials < 1) {
    std::fputs("usage: spin_gate WORKER TRIALS\n", stderr);
    return 2;
  }
  try {
    return assay::lab::run(argv[1], argv[0], trials);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "spin_gate: %s\n", e.what());
    return 1;
  }
}
