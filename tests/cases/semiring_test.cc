// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/semiring/cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "cases/semiring/edge_inputs.h"
#include "cases/semiring/matmul_inputs.h"
#include "cases/semiring/sample_rows.h"
#include "cases/semiring/workloads.h"
#include "judged_cases.h"

namespace assay::cases::semiring {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class CasesTest : public JudgedCases {
 protected:
  CasesTest() : JudgedCases(add_cases, add_workloads) {}
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
        for (const char* provider : {"reference", "naive"}) {
          const auto v = verdict("semiring_matmul", point, provider);
          EXPECT_EQ(v.status, lab::Status::kOk) << provider << " " << point << ": " << v.message;
        }
        EXPECT_EQ(verdict("semiring_matmul", point, "naive", 0).code, "stale") << point;
      }
    }
  }
}

TEST_F(CasesTest, EdgesPassTheirOracle) {
  for (const char* reduce : {"sum", "max"}) {
    for (const char* dtype : {"f32", "f64"}) {
      for (const char* degrees : {"full", "power_law"}) {
        const Json point = {{"reduce", reduce}, {"dtype", dtype},     {"n", 301}, {"k", 7},
                            {"d", 19},          {"degrees", degrees}, {"seed", 1}};
        for (const char* provider : {"reference", "naive"}) {
          const auto v = verdict("ell_edge_aggregate", point, provider);
          EXPECT_EQ(v.status, lab::Status::kOk) << provider << " " << point << ": " << v.message;
        }
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
  EXPECT_GT(v.fidelity["error"].get<double>(), 10) << "far outside, not by luck";
}

TEST_F(CasesTest, AnF32AccumulatorOnF64InputsIsRefused) {
  // The tolerance of f64 must tell an f32 sum from an f64 one.
  Json point = {{"dtype", "f64"}, {"n", 32}, {"seed", 0}};
  const auto& definition = cases_.find("dense_matmul");
  auto expected = definition.expect(point, lab::kJudgedSet);
  const double shift = 0x1p-24 * std::abs(expected[0].values[5]) + 1e-7;
  EXPECT_GT(shift, expected[0].atol + expected[0].rtol * std::abs(expected[0].values[5]));
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
  EXPECT_EQ(c.complete_point({{"algebra", "boolean"}}, base)["dtype"], "bool");
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

TEST(SampleRows, TakesAllWhenAffordableAndAlwaysTheEdges) {
  EXPECT_EQ(sample_rows(10, 1, 10, 0).rows.size(), 10u);
  EXPECT_FALSE(sample_rows(10, 1, 10, 0).seed);
  const auto sample = sample_rows(1000, 1, 50, 7);
  EXPECT_EQ(sample.rows.size(), 50u);
  EXPECT_EQ(sample.seed, 7);
  EXPECT_EQ(sample.rows.front(), 0);
  EXPECT_EQ(sample.rows.back(), 999);
  EXPECT_EQ(sample_rows(1000, 1, 50, 7).rows, sample.rows);
  EXPECT_EQ(sample_rows(1000, 1e9, 1, 7).rows.size(), 8u);
  EXPECT_TRUE(sample_rows(0, 1, 1, 0).rows.empty());
}

}  // namespace
}  // namespace assay::cases::semiring
