// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/semiring/cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iostream>
#include <set>

#include "base/error.h"
#include "cases/semiring/edge_inputs.h"
#include "cases/semiring/matmul_inputs.h"
#include "cases/semiring/workloads.h"
#include "judged_cases.h"
#include "tensor/safetensors.h"

namespace assay::cases::semiring {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class CasesTest : public JudgedCases {
 protected:
  CasesTest() : JudgedCases(add_cases, add_workloads) {}

  // Every native provider that the point is for, but those meant to be refused, on one core and on
  // two. A library that is not installed is named, and nothing of ours may be missing.
  void expect_providers_pass(std::string_view name, const Json& point) {
    const auto& definition = cases_.find(name);
    std::set<std::string> passed;
    for (const auto& p : definition.providers()) {
      if (p.runtime != lab::Runtime::kNative || p.expected_status != lab::Status::kOk) continue;
      if (std::ranges::find(p.platforms, "cpu") == p.platforms.end()) continue;
      if (definition.why_not(point, p.id, "cpu")) continue;
      for (const int cores : {1, 2}) {
        try {
          const auto v = verdict(name, point, p.id, lab::kJudgedSet, cores);
          EXPECT_EQ(v.status, lab::Status::kOk)
              << p.id << " on " << cores << ' ' << point << ": " << v.message;
          passed.insert(p.id);
        } catch (const lab::ProviderFailure& e) {
          ASSERT_FALSE(p.library.empty()) << p.id << ": " << e.what();
          std::cout << "not installed, not tested: " << p.id << '\n';
        }
      }
    }
    EXPECT_THAT(passed, testing::IsSupersetOf({"reference", "naive", "assay-simd"})) << point;
  }
};

TEST_F(CasesTest, AreSound) { expect_sound_definitions(); }

TEST_F(CasesTest, ProvidersPassTheirOracleInEveryAlgebraDtypeAndRegime) {
  const auto& matmul = cases_.find("semiring_matmul");
  for (const char* algebra : {"real", "log", "max_plus", "min_plus", "euclidean", "boolean"}) {
    for (const char* dtype : {"f32", "f64"}) {
      for (const char* regime : {"unit", "spread"}) {
        const bool boolean = std::string_view(algebra) == "boolean";
        if (std::string_view(regime) == "spread" &&
            (boolean || std::string_view(algebra) == "real"))
          continue;
        const Json point = matmul.complete_point({{"algebra", algebra},
                                                  {"dtype", boolean ? "bool" : dtype},
                                                  {"regime", regime},
                                                  {"m", 37},
                                                  {"k", 129},
                                                  {"n", 65},
                                                  {"seed", 5}},
                                                 Json::object());
        expect_providers_pass("semiring_matmul", point);
        EXPECT_EQ(verdict("semiring_matmul", point, "naive", 0).code, "stale") << point;
      }
    }
  }
}

TEST_F(CasesTest, FactorsMayBeRoundedToHalves) {
  const auto& matmul = cases_.find("semiring_matmul");
  for (const char* inputs : {"f16", "bf16"}) {
    for (const char* algebra : {"real", "log", "max_plus", "euclidean"}) {
      const Json point = matmul.complete_point({{"algebra", algebra},
                                                {"dtype", "f32"},
                                                {"inputs", inputs},
                                                {"regime", "unit"},
                                                {"m", 37},
                                                {"k", 129},
                                                {"n", 65},
                                                {"seed", 5}},
                                               Json::object());
      expect_providers_pass("semiring_matmul", point);
    }
  }
  // Each number is one of the half's: rounding it once more changes nothing.
  const MatmulPoint p({{"algebra", "real"},
                       {"dtype", "f32"},
                       {"inputs", "bf16"},
                       {"n", 20},
                       {"regime", "unit"},
                       {"seed", 0}});
  MatmulInputs in(p);
  fill_inputs(p, 0, in);
  for (const float x : in.a.as<float>()) EXPECT_EQ(std::bit_cast<std::uint32_t>(x) & 0xffff, 0u);
}

TEST_F(CasesTest, ProvidersPassTheirOracleWhereTheyTakeThreads) {
  // Several tiles for each of two cores, and sums of several blocks.
  for (const char* dtype : {"f32", "f64"}) {
    expect_providers_pass("dense_matmul",
                          {{"dtype", dtype}, {"m", 150}, {"k", 600}, {"n", 131}, {"seed", 3}});
  }
}

TEST_F(CasesTest, EdgesPassTheirOracle) {
  for (const char* reduce : {"sum", "max"}) {
    for (const char* dtype : {"f32", "f64"}) {
      for (const char* degrees : {"full", "power_law"}) {
        const Json point = {{"reduce", reduce}, {"dtype", dtype},     {"n", 301}, {"k", 7},
                            {"d", 19},          {"degrees", degrees}, {"seed", 1}};
        expect_providers_pass("ell_edge_aggregate", point);
      }
    }
  }
}

TEST_F(CasesTest, Bf16AccumulationIsRefusedByTheTolerance) {
  const auto point = cases_.find("dense_matmul").representative_points().front();
  Json small = point;
  small["n"] = 64;  // wide enough to fail, small enough to be quick
  const auto v = verdict("dense_matmul", small, "bf16-accumulate");
  EXPECT_EQ(v.status, lab::Status::kWrongResult);
  EXPECT_EQ(v.code, "value");
  EXPECT_GT(*v.fidelity.error, 10) << "far outside, not by luck";
}

TEST_F(CasesTest, AnF32AccumulatorOnF64InputsIsRefused) {
  const auto& definition = cases_.find("dense_matmul");
  const Json point = definition.complete_point({{"dtype", "f64"}, {"n", 32}, {"seed", 0}}, {});
  const MatmulPoint p(point);
  MatmulInputs in(p);
  fill_inputs(p, lab::kJudgedSet, in);
  // The same loops but for the accumulator: in double they pass, in float they do not.
  const auto judged = [&]<typename Sum>(Sum) {
    Tensor c(DType::kF64, Shape{p.m, p.n});
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        Sum sum = 0;
        for (std::int64_t k = 0; k < p.k; ++k) {
          sum += static_cast<Sum>(in.a.view().at<double>(i, k) * in.b.view().at<double>(k, j));
        }
        c.mutable_view().at<double>(i, j) = static_cast<double>(sum);
      }
    }
    write_safetensors(dir_.path() + "/sums", {{"c", c.view()}});
    const auto expected = definition.expect(point, lab::kJudgedSet, 0);
    const auto others = definition.expect(point, 0, 0);
    return lab::judge(expected, dir_.path() + "/sums",
                      [&](int) -> const std::vector<lab::Expectation>& { return others; });
  };
  EXPECT_EQ(judged(double{}).status, lab::Status::kOk);
  const auto refused = judged(float{});
  EXPECT_EQ(refused.status, lab::Status::kWrongResult);
  EXPECT_EQ(refused.code, "value");
  EXPECT_GT(*refused.fidelity.error, 10) << "far outside, not by luck";
}

TEST_F(CasesTest, PointsThatContradictThemselvesAreNamed) {
  const auto& c = cases_.find("semiring_matmul");
  const auto base = c.representative_points().front();
  EXPECT_THAT(
      [&] {
        c.complete_point({{"algebra", "boolean"}, {"dtype", "f32"}}, base);
      },
      ThrowsMessage<UserError>(HasSubstr("algebra \"boolean\" does not go with dtype \"f32\"")));
  EXPECT_THAT(
      [&] {
        c.complete_point({{"algebra", "real"}, {"regime", "spread"}}, base);
      },
      ThrowsMessage<UserError>(HasSubstr("\"spread\" is not defined")));
  EXPECT_THAT(
      [&] {
        c.complete_point({{"dtype", "f64"}, {"inputs", "bf16"}}, base);
      },
      ThrowsMessage<UserError>(HasSubstr("got \"bf16\" with \"f64\"")));
  EXPECT_EQ(c.complete_point({{"algebra", "boolean"}}, base)["dtype"], "bool");
  EXPECT_FALSE(c.complete_point({{"inputs", "f32"}}, base).contains("inputs"));
}

TEST(Inputs, SpreadLogHasHolesAndWideTerms) {
  const MatmulPoint p(
      {{"algebra", "log"}, {"dtype", "f32"}, {"n", 200}, {"regime", "spread"}, {"seed", 0}});
  MatmulInputs in(p);
  fill_inputs(p, 0, in);
  int holes = 0;
  float low = 0, high = 0;
  for (const float x : in.a.as<float>()) {
    if (std::isinf(x)) {
      EXPECT_LT(x, 0);
      ++holes;
    } else {
      low = std::min(low, x);
      high = std::max(high, x);
    }
  }
  EXPECT_NEAR(holes / 40000.0, 0.05, 0.01);
  EXPECT_LT(low, -49);
  EXPECT_GT(high, 49);
}

TEST(Inputs, PowerLawDegreesKeepTheirTail) {
  const EdgePoint p({{"reduce", "sum"},
                     {"dtype", "f32"},
                     {"n", 20000},
                     {"k", 16},
                     {"d", 1},
                     {"degrees", "power_law"},
                     {"seed", 0}});
  EdgeInputs in(p);
  fill_inputs(p, 0, in);
  std::int64_t present = 0, full = 0;
  const auto idx = in.idx.view();
  for (std::int64_t i = 0; i < p.n; ++i) {
    std::int64_t degree = 0;
    for (std::int64_t s = 0; s < p.k; ++s) degree += idx.at<std::int32_t>(i, s) >= 0;
    EXPECT_GE(degree, 2);
    present += degree;
    full += degree == p.k;
  }
  EXPECT_EQ(present, count_edges(p, 0));
  EXPECT_NEAR(static_cast<double>(full) / 20000, 4.0 / 256, 0.005);  // P(degree ≥ 16) = (2/16)²
}

}  // namespace
}  // namespace assay::cases::semiring
