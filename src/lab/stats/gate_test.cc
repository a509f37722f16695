// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/error.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Values = std::vector<double>;

GateRow one(const Evidence& evidence, GateSettings settings = {}) {
  return decide_gate({&evidence, 1}, settings).front();
}
Values around(double middle, int rounds) {  // symmetric, within ±0.01 of the middle
  Values d;
  for (int r = 0; r < rounds; ++r) d.push_back(middle + 0.02 * (r + 0.5) / rounds - 0.01);
  return d;
}

TEST(Gate, ThreeVerdicts) {
  EXPECT_EQ(one(PairedEvidence{around(0, 20)}).verdict, Verdict::kPass);
  EXPECT_EQ(one(PairedEvidence{around(0.1, 20)}).verdict, Verdict::kRegressed);
  EXPECT_EQ(one(PairedEvidence{around(std::log1p(0.05), 20)}).verdict, Verdict::kUnresolved);
  EXPECT_EQ(one(PairedEvidence{around(-0.5, 20)}).verdict, Verdict::kPass);
  EXPECT_EQ(one(PairedEvidence{around(0, 5)}).verdict, Verdict::kUnresolved);  // no interval
}

TEST(Gate, RowSaysWhatItRestsOn) {
  const auto row = one(PairedEvidence{around(0.1, 20)});
  EXPECT_NEAR(row.ratio, std::exp(0.1), 1e-12);
  ASSERT_TRUE(row.interval);
  EXPECT_LT(row.interval->low, row.ratio);
  EXPECT_GT(row.interval->high, row.ratio);
  EXPECT_DOUBLE_EQ(row.p, 1e-4);  // none of 9999 patterns of signs
  EXPECT_EQ(row.rounds, 20);
  EXPECT_GT(row.detectable, 0);
  EXPECT_LT(row.detectable, 0.01);
  EXPECT_GE(row.rounds_for_tolerance, 6);
}

TEST(Gate, AsManyRowsAsOneLikes) {
  const Evidence slower = PairedEvidence{around(0.1, 6)}, same = PairedEvidence{around(0, 6)};
  EXPECT_EQ(one(slower).verdict, Verdict::kRegressed);
  for (const std::size_t rows : {2u, 47u, 500u}) {
    for (const auto& row : decide_gate(std::vector<Evidence>(rows, slower), {})) {
      EXPECT_EQ(row.verdict, Verdict::kRegressed);
    }
    std::vector<Evidence> one_slower(rows, same);
    one_slower.back() = slower;
    const auto decided = decide_gate(one_slower, {});
    EXPECT_EQ(decided.back().verdict, Verdict::kRegressed) << decided.back().p_adjusted;
    EXPECT_EQ(decided.front().verdict, Verdict::kPass);
  }
  EXPECT_TRUE(decide_gate({}, {}).empty());
}

TEST(Gate, UnpairedEvidence) {
  Values baseline, slower;
  for (const double d : around(0, 12)) baseline.push_back(std::exp(d));
  for (const double d : around(0.12, 10)) slower.push_back(std::exp(d));
  EXPECT_EQ(one(UnpairedEvidence{baseline, baseline}).verdict, Verdict::kPass);
  const auto row = one(UnpairedEvidence{slower, baseline});
  EXPECT_EQ(row.verdict, Verdict::kRegressed);
  EXPECT_NEAR(row.ratio, std::exp(0.12), 1e-3);
  EXPECT_EQ(row.rounds, 10);
  EXPECT_EQ(one(UnpairedEvidence{baseline, slower}).verdict, Verdict::kPass);
  EXPECT_EQ(one(UnpairedEvidence{{1, 1.01}, {1, 1.02}}).verdict, Verdict::kUnresolved);
}

TEST(Gate, ExactTiesAtTheLimitAreNotSlower) {
  GateSettings settings;
  settings.tolerance = 0;
  const auto row = one(PairedEvidence{Values(20, 0.0)}, settings);
  EXPECT_EQ(row.p, 1);
  EXPECT_EQ(row.verdict, Verdict::kUnresolved);  // the upper end is the limit, not below it
}

TEST(Gate, Refusals) {
  EXPECT_THROW(one(PairedEvidence{}), UserError);
  EXPECT_THROW(one(PairedEvidence{{0, std::nan("")}}), UserError);
  EXPECT_THROW(one(UnpairedEvidence{{1}, {}}), UserError);
  EXPECT_THROW(one(UnpairedEvidence{{1}, {-1}}), UserError);
  EXPECT_THROW(one(PairedEvidence{{0}}, {.tolerance = -0.1}), UserError);
  EXPECT_THROW(one(PairedEvidence{{0}}, {.alpha = 1}), UserError);
}

TEST(Gate, MinP95) {
  EXPECT_FALSE(min_p95_rule(1.09, 1.2, 1, 1).regressed);
  EXPECT_TRUE(min_p95_rule(1.11, 1, 1, 1).regressed);
  EXPECT_TRUE(min_p95_rule(1, 1.26, 1, 1).regressed);
  EXPECT_FALSE(min_p95_rule(1.10, 1.25, 1, 1).regressed);  // the limits themselves are allowed
  EXPECT_THAT([] { min_p95_rule(1, 0, 1, 1); }, ThrowsMessage<UserError>(HasSubstr("95 %")));
}

TEST(Gate, RowsMayHaveTolerancesOfTheirOwn) {
  const PairedEvidence slower{std::vector<double>(20, std::log(1.08))};
  const std::vector<Evidence> rows = {slower, slower};
  const std::vector<double> tolerances = {0.05, 0.10};
  const auto decided = decide_gate(rows, tolerances, {});
  EXPECT_EQ(decided[0].verdict, Verdict::kRegressed);
  EXPECT_EQ(decided[1].verdict, Verdict::kPass);
}

}  // namespace
}  // namespace assay::lab
