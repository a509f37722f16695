// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cases/chip/cases.h"
#include "cases/chip/workloads.h"
#include "judged_cases.h"

namespace assay::cases::chip {
namespace {

class ChipCases : public JudgedCases {
 protected:
  ChipCases() : JudgedCases(add_cases, add_workloads) {}

  double time(const char* name, const Json& point, const char* provider) {
    const auto workload = workloads_.make(name, provider, point, 1);
    workload->call(0);
    return workload->metrics().at("simulated_time");
  }
};

TEST_F(ChipCases, AreSound) { expect_sound_definitions(); }

// No schedule beats the roofline; on one processing element the closed form is exact.
TEST_F(ChipCases, ProductsKeepTheirBoundsAndClosedForms) {
  for (const char* name : {"chip_gemm", "chip_buffers"}) {
    for (const auto& point : cases_.find(name).standard_points()) {
      const double simulated = time(name, point, "simulated");
      EXPECT_GE(simulated, time(name, point, "roofline")) << point;
      if (point.value("pes", 1) == 1) {
        EXPECT_EQ(simulated, time(name, point, "closed_form")) << point;
      }
    }
  }
}

TEST_F(ChipCases, NoAllReduceBeatsItsBound) {
  const char* name = "chip_allreduce";
  for (const auto& point : cases_.find(name).standard_points()) {
    if (point["bytes"] > 1 << 18) continue;
    EXPECT_GE(time(name, point, "simulated"), time(name, point, "bound")) << point;
    EXPECT_GT(time(name, point, "alpha_beta"), 0) << point;
  }
}

// What cannot be planned is skipped with the engine's own words, never attempted.
TEST_F(ChipCases, WhatDoesNotFitTheChipIsSkipped) {
  const auto& gemm = cases_.find("chip_gemm");
  const Json large = {{"m", 16384}, {"k", 16384}, {"n", 64}, {"variant", "load_load"},
                      {"pes", 1},   {"seed", 0}};
  const auto skip = gemm.why_not(large, "simulated", "cpu");
  ASSERT_TRUE(skip.has_value());
  EXPECT_NE(skip->message.find("sram"), std::string::npos) << skip->message;
  Json odd = large;
  odd["pes"] = 3;
  EXPECT_TRUE(gemm.why_not(odd, "simulated", "cpu").has_value());
}

}  // namespace
}  // namespace assay::cases::chip
