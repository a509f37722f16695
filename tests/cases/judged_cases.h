// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "lab/judge/judge.h"
#include "lab/measure/workload.h"
#include "lab/record/case.h"

namespace assay::cases {

// The cases of a suite and their native providers, without a runner between them.
class JudgedCases : public testing::Test {
 protected:
  JudgedCases(void (*add_cases)(lab::CaseRegistry&),
              void (*add_workloads)(lab::WorkloadRegistry&)) {
    add_cases(cases_);
    add_workloads(workloads_);
  }

  // Computes one point by a native provider and holds it against the case's own oracle. Another
  // input set than the judged one must not pass.
  lab::Judgement verdict(std::string_view name, const Json& point, std::string_view provider,
                         int set = lab::kJudgedSet, int cores = 1) {
    const auto& definition = cases_.find(name);
    const auto workload = workloads_.make(name, provider, point, cores);
    workload->load(0, set);
    workload->poison_outputs();
    workload->call(0);
    workload->write_outputs(dir_.path() + "/out");
    const auto expected = definition.expect(point, lab::kJudgedSet, 0);
    const auto others = definition.expect(point, 0, 0);
    return lab::judge(
        expected, dir_.path() + "/out",
        [&](int) -> const std::vector<lab::Expectation>& { return others; },
        definition.certify(point, lab::kJudgedSet, provider, dir_.path() + "/out"));
  }

  // Every point is complete and canonical, none stands twice, those of --quick and of a plain run
  // are among all, and the baseline is a provider.
  void expect_sound_definitions() const {
    for (const auto& c : cases_.all()) {
      std::set<std::string> seen, ids;
      for (const auto& point : c->all_points()) {
        EXPECT_EQ(c->complete_point(point, Json::object()), point) << point;
        EXPECT_TRUE(seen.insert(canonical_json(point)).second) << point;
      }
      for (const auto& points : {c->standard_points(), c->representative_points()}) {
        for (const auto& point : points) {
          EXPECT_TRUE(seen.contains(canonical_json(point))) << point;
        }
      }
      for (const auto& p : c->providers()) ids.insert(p.id);
      EXPECT_TRUE(ids.contains(std::string(c->baseline()))) << c->name();
    }
  }

  lab::CaseRegistry cases_;
  lab::WorkloadRegistry workloads_;
  TemporaryDirectory dir_;
};

}  // namespace assay::cases
