// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/pack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace assay::lab {
namespace {

double length(const std::vector<std::size_t>& task, const std::vector<double>& seconds) {
  double sum = 0;
  for (const auto i : task) sum += seconds[i];
  return sum;
}

TEST(Pack, EveryPointIsInOneTask) {
  std::vector<double> seconds;
  for (int i = 0; i < 500; ++i) seconds.push_back(1 + (i * 37) % 91);
  std::multiset<std::size_t> seen;
  for (const auto& task : pack(seconds, {.nodes = 7})) seen.insert(task.begin(), task.end());
  EXPECT_EQ(seen.size(), seconds.size());
  EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), seconds.size());
}

TEST(Pack, TasksBecomeShorterAndAreFew) {
  const std::vector<double> seconds(2000, 10);
  const auto tasks = pack(seconds, {.nodes = 10});
  EXPECT_LT(tasks.size(), 120u);
  // The first is half of a node's share of it all, the last as short as tasks are.
  EXPECT_NEAR(length(tasks.front(), seconds), 1000, 10);
  EXPECT_LE(length(tasks.back(), seconds), 2 * kLeastTaskS);
  for (std::size_t i = 1; i < tasks.size(); ++i) EXPECT_LE(tasks[i].size(), tasks[i - 1].size());
}

TEST(Pack, ALongPointIsATaskAndComesFirst) {
  const auto tasks = pack(std::vector<double>{1, 1, 500, 1}, {.nodes = 2});
  EXPECT_EQ(tasks.front(), std::vector<std::size_t>{2});
}

TEST(Pack, ShortWorkStillReachesEveryNode) {
  EXPECT_EQ(pack(std::vector<double>(8, 0.5), {.nodes = 4}).size(), 4u);
  EXPECT_EQ(pack(std::vector<double>(2, 0.5), {.nodes = 4}).size(), 2u);
}

TEST(Pack, TasksKeepToTheirTimeLimit) {
  const std::vector<double> seconds(100, 30);
  for (const auto& task : pack(seconds, {.nodes = 1, .longest_s = 100})) {
    EXPECT_LE(length(task, seconds), 100);
  }
}

TEST(Pack, ArraysHaveAnEnd) {
  EXPECT_EQ(pack(std::vector<double>(50, 100), {.nodes = 50, .most_tasks = 7}).size(), 7u);
}

TEST(Pack, NothingIsNoTask) { EXPECT_TRUE(pack({}, {.nodes = 3}).empty()); }

}  // namespace
}  // namespace assay::lab
