// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "cases/transport/cases.h"
#include "cases/transport/engine_point.h"
#include "cases/transport/expectation.h"
#include "cases/transport/workloads.h"
#include "judged_cases.h"

namespace assay::cases::transport {
namespace {

class TransportCases : public JudgedCases {
 protected:
  TransportCases() : JudgedCases(add_cases, add_workloads) {}
  lab::Judgement verdict(const lab::Case& c, const Json& point, const std::string& provider,
                         int set = lab::kJudgedSet) {
    return JudgedCases::verdict(c.name(), point, provider, set, 2);
  }
  // A point of the case on a grid that costs nothing.
  static Json small(const lab::Case& c) {
    Json point = c.representative_points().front();
    point["n_theta"] = 5;
    point["n_zeta"] = 7;
    point["n_xi"] = 6;
    if (point.contains("cases")) point["cases"] = 5;
    return point;
  }
};

TEST_F(TransportCases, AreSound) {
  expect_sound_definitions();
  for (const auto& c : cases_.all()) {
    for (const auto& point : c->all_points()) {
      EXPECT_GT(c->work(point).at("flops"), 0);
      EXPECT_GT(c->memory_estimate(point, c->baseline()), 0u);
    }
  }
}

TEST_F(TransportCases, EveryNativeProviderPassesTheOracle) {
  for (const auto& c : cases_.all()) {
    for (const auto& provider : c->providers()) {
      // mpirun looks for assay-transport beside the worker: tests/cli runs that one.
      if (provider.runtime == lab::Runtime::kPython || provider.id == "mpi") continue;
      if (std::ranges::find(provider.platforms, "cpu") == provider.platforms.end()) continue;
      Json point = small(*c);
      if (provider.id == "assay-parity") point["field"] = "zero";
      ASSERT_FALSE(c->why_not(point, provider.id, "cpu").has_value());
      const auto v = verdict(*c, point, provider.id);
      EXPECT_EQ(v.status, lab::Status::kOk) << c->name() << " " << provider.id << ": " << v.message;
    }
  }
}

TEST_F(TransportCases, AnAnswerToOtherInputsIsStale) {
  const auto& c = cases_.find("transport_solve");
  EXPECT_EQ(verdict(c, small(c), "assay-dense", 0).code, "stale");
}

TEST_F(TransportCases, AWorkflowThatAnswersOtherInputsIsStale) {
  const auto& c = cases_.find("transport_workflow");
  EXPECT_EQ(verdict(c, small(c), "assay", 0).code, "stale");
}

// The integrals are judged by themselves: right coefficients do not make up for them.
TEST_F(TransportCases, AWrongIntegralIsWrong) {
  const auto& c = cases_.find("transport_workflow");
  auto expected = c.expect(small(c), lab::kJudgedSet, 0);
  ASSERT_EQ(expected.size(), 2u);
  ASSERT_EQ(expected[1].output, "i");
  const auto workload = workloads_.make(c.name(), "assay", small(c), 1);
  workload->load(0, lab::kJudgedSet);
  workload->call(0);
  workload->write_outputs(dir_.path() + "/out");
  const auto judged = [&] {
    return lab::judge(expected, dir_.path() + "/out",
                      [&](int) -> const std::vector<lab::Expectation>& { return expected; });
  };
  EXPECT_EQ(judged().status, lab::Status::kOk);
  expected[1].values[7] *= 1 + 1e-8;
  EXPECT_EQ(judged().status, lab::Status::kWrongResult);
}

TEST_F(TransportCases, AWorkflowTellsItsStages) {
  const auto& c = cases_.find("transport_workflow");
  const auto workload = workloads_.make(c.name(), "assay-threads", small(c), 2);
  workload->load(0, 0);
  workload->call(0);
  std::vector<std::string> names;
  for (const auto& [name, seconds] : workload->stages()) {
    names.push_back(name);
    EXPECT_GT(seconds, 0) << name;
    EXPECT_NE(lab::find_metric("stage_" + name), nullptr);
    EXPECT_NE(lab::find_metric("cold_stage_" + name), nullptr);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"surface", "prepare", "scan", "database", "integrals",
                                             "output"}));
}

// A block of 625 points is 3 MB, of which each process holds several.
TEST_F(TransportCases, ProcessesTellTheMemoryOfTheirChildren) {
  Json point = small(cases_.find("transport_scan"));
  point["n_theta"] = 25;
  point["n_zeta"] = 25;
  point["n_xi"] = 2;
  point["cases"] = 2;
  for (const auto& [provider, least] : {std::pair{"threads", 0.0}, std::pair{"processes", 1e7}}) {
    const auto workload = workloads_.make("transport_scan", provider, point, 2);
    workload->load(0, 0);
    workload->call(0);
    EXPECT_GE(workload->child_memory(), least) << provider;
    EXPECT_EQ(workload->metrics().at("lanes"), 2) << provider;
  }
}

TEST_F(TransportCases, TheSerialLaneStandsBesideTheOracle) {
  const auto& c = cases_.find("transport_scan");
  for (const char* provider : {"serial", "threads", "processes"}) {
    EXPECT_EQ(verdict(c, small(c), provider).from_baseline, 0.0) << provider;
  }
}

TEST_F(TransportCases, MoreLanesThanCoresAreSkipped) {
  const auto& c = cases_.find("transport_strong_scaling");
  Json point = small(c);
  point["lanes"] = 3;
  try {
    workloads_.make(c.name(), "threads", point, 2);
    FAIL() << "made";
  } catch (const lab::ProviderFailure& e) {
    EXPECT_EQ(e.status(), lab::Status::kSkipped);
    EXPECT_EQ(e.code(), "too_few_cores");
  }
}

TEST_F(TransportCases, ParityIsSkippedWithAField) {
  const auto& c = cases_.find("transport_solve");
  EXPECT_EQ(c.why_not(small(c), "assay-parity", "cpu").value().code, "provider_not_applicable");
}

// The ladder's first case is at zero field, and 11 poloidal points resolve the rational mode there.
TEST_F(TransportCases, WhatNoSolverCanKnowIsNotJudged) {
  const auto& c = cases_.find("transport_scan");
  Json point = small(c);
  EXPECT_EQ(c.expect(point, 0, 0).front().rows.front(), 0);
  point["n_theta"] = 11;
  EXPECT_EQ(c.expect(point, 0, 0).front().rows.front(), 1);
}

// Where that was the only case, or the oracle would take minutes, nothing is said to be right.
TEST_F(TransportCases, WhatIsNotJudgedIsNotCalledRight) {
  const auto& solve = cases_.find("transport_solve");
  Json point = small(solve);
  point["surface"] = "sample_dkes";
  point["field"] = "zero";
  point["n_theta"] = 11;
  EXPECT_TRUE(solve.expect(point, 0, 0).empty());
  EXPECT_EQ(verdict(solve, point, "assay-dense").fidelity.status, "no_oracle");
  point["field"] = "on";
  EXPECT_FALSE(solve.expect(point, 0, 0).empty());
  for (const char* even : {"n_theta", "n_zeta"}) {  // its highest mode is a null vector
    Json other = point;
    other[even] = 8;
    EXPECT_TRUE(solve.expect(other, 0, 0).empty());
    EXPECT_EQ(verdict(solve, other, "assay-dense").fidelity.status, "no_oracle");
  }
  point["n_theta"] = point["n_zeta"] = 101;
  EXPECT_TRUE(solve.expect(point, 0, 0).empty());
}

// Small grids are judged whole, large ones at the ends and where the draw says.
TEST_F(TransportCases, ScansAreJudgedAsFarAsTheOracleIsCheap) {
  Json point = small(cases_.find("transport_scan"));
  point["cases"] = 64;
  EXPECT_EQ(judged_rows(TransportPoint(point), 0, 0).size(), 64u);
  point["n_theta"] = 17;
  point["n_zeta"] = 25;
  point["n_xi"] = 16;
  const auto rows = judged_rows(TransportPoint(point), 0, 0);
  EXPECT_GE(rows.size(), 4u);
  EXPECT_LT(rows.size(), 64u);
  EXPECT_EQ(rows.front(), 1);  // the first has no field, and the surface is rational
  EXPECT_EQ(rows.back(), 63);
  point["n_zeta"] = 255;
  EXPECT_TRUE(judged_rows(TransportPoint(point), 0, 0).empty());
}

// However dear a case is, one that is neither the first nor the last is judged, another in each
// run.
TEST_F(TransportCases, NoCaseGoesUnjudgedForGood) {
  Json point = small(cases_.find("transport_scan"));
  point["n_theta"] = point["n_zeta"] = 25;
  point["n_xi"] = 60;
  point["cases"] = 12;
  std::set<std::int64_t> seen;
  for (std::int64_t draw = 0; draw < 200; ++draw) {
    const auto rows = judged_rows(TransportPoint(point), 0, draw);
    EXPECT_EQ(rows.size(), 3u);
    seen.insert(rows.begin(), rows.end());
  }
  EXPECT_EQ(seen.size(), 11u);  // all but the one without a field, on a rational surface
}

// A solver of a neighbouring discretisation is no solver of this one: U_k from the transpose of
// L_{k+1} differs by aliasing alone.
TEST_F(TransportCases, AnotherDiscretisationIsWrong) {
  const auto& c = cases_.find("transport_solve");
  const TransportPoint point(small(c));
  const auto prepared =
      tr::prepare(engine_surface(point), engine_grid(point), {.adjoint_consistent = true});
  const auto d = tr::solve(prepared, engine_cases(point, lab::kJudgedSet).front()).d;
  const auto expected = c.expect(small(c), lab::kJudgedSet, 0).front();
  EXPECT_NEAR(d.d33, expected.values[3], 5e-2 * expected.values[3]);
  EXPECT_GT(std::abs(d.d33 - expected.values[3]), 1e3 * expected.rtol * expected.values[3]);
}

}  // namespace
}  // namespace assay::cases::transport
