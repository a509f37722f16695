// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "cases/transport/cases.h"
#include "cases/transport/point.h"
#include "cases/transport/workloads.h"
#include "judged_cases.h"

namespace assay::cases::transport {
namespace {

class TransportCases : public JudgedCases {
 protected:
  TransportCases() : JudgedCases(add_cases, add_workloads) {}
  lab::Verdict verdict(const lab::Case& c, const Json& point, const std::string& provider,
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

TEST_F(TransportCases, ParityIsSkippedWithAField) {
  const auto& c = cases_.find("transport_solve");
  EXPECT_EQ(c.why_not(small(c), "assay-parity", "cpu").value().code, "provider_not_applicable");
}

// The ladder's first case is at zero field, and 11 poloidal points resolve the rational mode there.
TEST_F(TransportCases, WhatNoSolverCanKnowIsNotJudged) {
  const auto& c = cases_.find("transport_scan");
  Json point = small(c);
  EXPECT_EQ(c.expect(point, 0).front().rows.front(), 0);
  point["n_theta"] = 11;
  EXPECT_EQ(c.expect(point, 0).front().rows.front(), 1);
}

}  // namespace
}  // namespace assay::cases::transport
