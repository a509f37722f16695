// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cases/chip/cases.h"
#include "cases/chip/workloads.h"
#include "judged_cases.h"
#include "tensor/safetensors.h"

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

// Nobody judges himself: what an attempt leaves is held against an oracle that knows no engine, and
// where the oracle knows nothing, the row says so.
TEST_F(ChipCases, EveryProductIsJudged) {
  for (const char* name : {"chip_gemm", "chip_buffers"}) {
    const auto& definition = cases_.find(name);
    for (const auto& point : definition.standard_points()) {
      for (const auto& provider : definition.providers()) {
        if (definition.why_not(point, provider.id, "cpu")) continue;
        const auto judged = verdict(name, point, provider.id);
        EXPECT_EQ(judged.fidelity.status, "pass")
            << point << " " << provider.id << ": " << judged.message;
      }
    }
  }
}

TEST_F(ChipCases, EveryAllReduceIsJudgedOrSaysThatItIsNot) {
  const char* name = "chip_allreduce";
  int exact = 0, unjudged = 0;
  for (const auto& point : cases_.find(name).standard_points()) {
    if (point["bytes"] > 1 << 20 && point["bytes"] < 64 << 20) continue;
    const auto simulated = verdict(name, point, "simulated");
    EXPECT_EQ(simulated.fidelity.status, "pass") << point << ": " << simulated.message;
    exact += simulated.fidelity.oracle.value().starts_with("exact");
    const auto bound = verdict(name, point, "bound");
    EXPECT_EQ(bound.fidelity.status, "pass") << point << ": " << bound.message;
    const auto cost = verdict(name, point, "alpha_beta");
    EXPECT_EQ(cost.status, lab::Status::kOk) << point << ": " << cost.message;
    unjudged += cost.fidelity.status == "no_oracle";
  }
  EXPECT_GT(exact, 0);
  EXPECT_GT(unjudged, 0);
}

// Sums of other data than the judged set's are an earlier call's.
TEST_F(ChipCases, DataOfAnotherCallIsRefused) {
  const Json point = {{"bytes", 1 << 12},
                      {"algorithm", "direct"},
                      {"network", "switch"},
                      {"ranks", 5},
                      {"seed", 3}};
  EXPECT_EQ(verdict("chip_allreduce", point, "simulated").status, lab::Status::kOk);
  EXPECT_EQ(verdict("chip_allreduce", point, "simulated", 0).status, lab::Status::kWrongResult);
}

// Whichever number of a log is changed, the judge says so.
TEST_F(ChipCases, EveryNumberOfALogCounts) {
  const auto refuses = [&](const char* name, const Json& point, const char* tensor,
                           std::int64_t row, std::int64_t column, std::int64_t by) {
    ASSERT_EQ(verdict(name, point, "simulated").status, lab::Status::kOk);
    std::vector<std::pair<std::string, Tensor>> copies;
    {
      const SafetensorsFile file(dir_.path() + "/out");
      for (const auto& each : file.names())
        copies.emplace_back(each, Tensor::copy(file.view(each)));
    }
    std::vector<std::pair<std::string, TensorView>> views;
    for (auto& [each, copy] : copies) {
      if (each == tensor) {
        const auto columns = copy.shape().rank() == 2 ? copy.shape()[1] : 1;
        copy.as<std::int64_t>()[static_cast<std::size_t>(row * columns + column)] += by;
      }
      views.emplace_back(each, copy.view());
    }
    write_safetensors(dir_.path() + "/changed", views);
    const auto certificate =
        cases_.find(name).certify(point, lab::kJudgedSet, "simulated", dir_.path() + "/changed");
    ASSERT_TRUE(certificate.has_value());
    EXPECT_NE(certificate->wrong, "") << tensor << " row " << row << " column " << column;
  };
  for (const int pes : {1, 4}) {
    const Json gemm = {{"m", 100},   {"k", 130}, {"n", 70}, {"variant", "load_ref"},
                       {"pes", pes}, {"seed", 0}};
    for (const std::int64_t column : {0, 3, 4, 5, 6, 7, 8, 9}) {
      for (const std::int64_t row : {0, 7, 31})
        refuses("chip_gemm", gemm, "ops", row, column, 1000);
    }
  }
  const Json sum = {{"bytes", 1020},
                    {"algorithm", "halving_doubling"},
                    {"network", "torus"},
                    {"ranks", 8},
                    {"seed", 0}};
  for (const std::int64_t column : {2, 4, 5, 6})
    refuses("chip_allreduce", sum, "messages", 9, column, 4);
  refuses("chip_allreduce", sum, "starts", 5, 1, 1);
  refuses("chip_allreduce", sum, "ranges", 3, 1, 1);
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
