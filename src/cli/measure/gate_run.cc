// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// `assay gate --run`: both sides measured now, in the same rounds.
//
// Measuring on until a row "resolves" would find regressions in noise. So there are two looks and
// no more, alpha is shared between them, and how many rounds the second adds follows from the
// scatter of the first, not from where its ratio lies.

#include "cli/measure/gate_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/clock.h"
#include "base/error.h"
#include "cli/measure/calibrated_floor.h"
#include "cli/measure/compared.h"
#include "cli/measure/executor.h"
#include "cli/measure/run_setup.h"
#include "cli/measure/side_runs.h"
#include "lab/decide/match.h"
#include "lab/stats/stopping.h"

namespace assay::cli {
namespace {

constexpr double kDefaultBudgetS = 600;
constexpr int kLooksOfGate = 2;

struct Planned {
  lab::RunRequest request;
  Sides sides;
};

Planned planned(RunSetup& setup, const GateArguments& a, const std::string& folder) {
  lab::RunRequest r;
  select_points(r, a.quick, a.points);
  auto sides =
      compared_sides(setup, {a.baseline, a.current, a.cases, a.filter, a.build, folder}, r);
  // On a cluster there is no one clock for it: jobs have limits of their own.
  r.budget_s = a.cluster.executor == "slurm" ? 0 : kDefaultBudgetS;
  apply(a.measure, r);
  r.label = "gate";
  check_oracles(setup, sides, r);
  return {std::move(r), std::move(sides)};
}

// What to measure again: by case, the points and providers, and by how many rounds.
struct TopUp {
  std::set<Json> points;
  std::set<std::string> providers;
  int rounds = 0;
};

std::map<std::string, TopUp> unresolved_rows(const lab::GateResult& result) {
  std::map<std::string, TopUp> by_case;
  for (const auto& entry : result.entries) {
    if (entry.outcome != lab::GateOutcome::kUnresolved) continue;
    const int have = entry.numbers.rounds;
    const auto look = lab::next_look(have);
    if (!look) continue;  // as many rounds as there can be
    const int wanted = std::clamp(entry.numbers.rounds_for_tolerance, *look, lab::kMaxRounds);
    auto& top_up = by_case[entry.match.key.case_name];
    top_up.points.insert(entry.match.key.point);
    top_up.providers.insert(entry.match.key.provider);
    top_up.rounds = std::max(top_up.rounds, wanted - have);
  }
  return by_case;
}

}  // namespace

std::optional<MeasuredGate> run_gate(const GateArguments& a, lab::GateOptions options) {
  if (options.rule != lab::GateRule::kIntervals)
    fail("--run judges by intervals, not by '{}'", a.rule);
  lab::compared_metric({}, options.metric);  // refuses one that is not known before it measures
  RunSetup setup;
  const auto folder = a.journals.empty() ? std::string("results") : a.journals;
  auto [request, sides] = planned(setup, a, folder);
  RunSetup::catch_interrupts();  // jobs that ask what nodes are end with us, too
  SideRuns runs(setup, sides, folder, slurm_asked(a.cluster, setup.context()));
  options.looks = kLooksOfGate;
  options.floor = [&](const std::string& machine) {
    return calibrated_floor(machine, runs.second_rows());
  };
  const auto judge = [&] {
    return lab::judge_gate(runs.first_rows(), runs.second_rows(), options);
  };

  const auto start_ns = monotonic_ns();
  if (!runs.measure(request, a.providers)) return std::nullopt;
  MeasuredGate gate{judge(), sides.first_name, sides.second_name, {}, {}};
  auto more = unresolved_rows(gate.result);
  auto cases_left = static_cast<double>(more.size());
  for (const auto& [name, top_up] : more) {
    const double left_s = request.budget_s - 1e-9 * static_cast<double>(monotonic_ns() - start_ns);
    if (request.budget_s > 0 && left_s <= 0) break;
    auto again = request;
    again.cases = {name};
    again.mode = "points";
    again.points = Json(top_up.points);
    again.rounds = top_up.rounds;
    again.budget_s = request.budget_s > 0 ? left_s / cases_left-- : 0;
    again.order_seed = request.order_seed + 1;
    setup.progress().note(
        fmt::format("{}: {} more rounds of what is unresolved", name, top_up.rounds));
    const std::vector<std::string> providers(top_up.providers.begin(), top_up.providers.end());
    if (!runs.measure(again, providers)) return std::nullopt;
  }
  if (!more.empty()) gate.result = judge();
  gate.result.dropped = sides.dropped;
  gate.result.options.floor = {};  // it refers to what is gone now
  gate.baseline_rows = runs.first_rows();
  gate.current_rows = runs.second_rows();
  return gate;
}

}  // namespace assay::cli
