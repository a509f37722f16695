// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/stats/noise_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/error.h"
#include "lab/stats/random.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Values = std::vector<double>;

std::vector<RunBatches> drawn(int runs, int attempts, int batches, double run, double process,
                              double within, std::uint64_t seed) {
  RandomStream random(seed, "noise");
  std::vector<RunBatches> all;
  for (int i = 0; i < runs; ++i) {
    const double of_run = run * random.normal();
    RunBatches list;
    for (int j = 0; j < attempts + i % 3; ++j) {  // unbalanced on purpose
      const double of_process = process * random.normal();
      Values values;
      for (int k = 0; k < batches + j % 2; ++k)
        values.push_back(std::exp(of_run + of_process + within * random.normal()));
      list.push_back(values);
    }
    all.push_back(list);
  }
  return all;
}

TEST(NoiseBudget, FindsTheThreeParts) {
  // 200 runs: the relative standard error of the variance between runs is about √(2/200) = 10 %,
  // of the standard deviation 5 %; the others are better known. Four of them each.
  const auto budget = noise_budget(drawn(200, 10, 8, 0.03, 0.02, 0.01, 1));
  EXPECT_EQ(budget.runs, 200);
  EXPECT_NEAR(*budget.within_process, 0.01, 0.0005);
  EXPECT_NEAR(*budget.between_processes, 0.02, 0.002);
  EXPECT_NEAR(*budget.between_runs, 0.03, 0.006);
}

TEST(NoiseBudget, PartsThatCannotBeSeenAreAbsent) {
  const auto single = noise_budget(drawn(1, 1, 1, 0, 0, 0.01, 2));
  EXPECT_FALSE(single.within_process || single.between_processes || single.between_runs);
  const auto run = noise_budget(drawn(1, 4, 5, 0, 0.02, 0.01, 3));
  EXPECT_TRUE(run.within_process && run.between_processes);
  EXPECT_FALSE(run.between_runs);
  const std::vector<RunBatches> equal(3, RunBatches(3, Values(3, 0.7)));
  EXPECT_EQ(noise_budget(equal).between_runs, 0);
}

TEST(NoiseBudget, Refusals) {
  EXPECT_THROW(noise_budget({}), UserError);
  EXPECT_THROW(noise_budget(std::vector<RunBatches>{RunBatches{Values{}}}), UserError);
  EXPECT_THAT(([] {
                noise_budget(std::vector<RunBatches>{RunBatches{Values{1, 0}}});
              }),
              ThrowsMessage<UserError>(HasSubstr("0")));
}

TEST(TwoModes, SeesTwoHeaps) {
  RandomStream random(4, "modes");
  Values values;
  for (int i = 0; i < 20; ++i) values.push_back((i % 3 == 0 ? 1.1 : 1.0) + 0.005 * random.normal());
  const auto modes = two_modes(values);
  ASSERT_TRUE(modes);
  EXPECT_NEAR(modes->low, 1.0, 0.01);
  EXPECT_NEAR(modes->high, 1.1, 0.01);
  EXPECT_EQ(modes->high_count, 7);
  EXPECT_LE(modes->p, 0.01);
}

TEST(TwoModes, OneHeapIsOne) {
  int reported = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed, "oneheap");
    Values values;
    for (int i = 0; i < 20; ++i) values.push_back(random.normal() + (i == 7 ? 30 : 0));
    reported += two_modes(values, seed).has_value();
  }
  EXPECT_LE(reported, 6);  // at most 1 % by construction, 2 of 200; 6 has chance below 1 %
}

TEST(TwoModes, TooFewOrEqual) {
  EXPECT_FALSE(two_modes({}));
  EXPECT_FALSE(two_modes(Values{1, 1, 1, 2, 2, 2}));
  EXPECT_FALSE(two_modes(Values(20, 3.0)));
  Values exact(10, 1.0);
  exact.insert(exact.end(), 10, 2.0);
  EXPECT_TRUE(two_modes(exact));
  EXPECT_THROW(two_modes(Values{std::nan("")}), UserError);
}

}  // namespace
}  // namespace assay::lab
