// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/threads/crew.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "base/test_attention.h"

namespace assay::kernels {
namespace {

TEST(Crew, EveryItemIsTakenOnce) {
  for (const int workers : {1, 2, 5, 40}) {
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<int> taken(97, 0);
      share_items(workers, 97,
                  [&](std::int64_t item) noexcept { ++taken[static_cast<std::size_t>(item)]; });
      EXPECT_EQ(taken, std::vector<int>(97, 1)) << workers << " workers";
    }
  }
}

TEST(Crew, HelpersAttendToWhatTheCallerDoes) {
  const Unwanted unwanted;
  std::atomic<int> left_out = 0;
  EXPECT_FALSE(still_wanted());
  for (int repeat = 0; repeat < 50; ++repeat) {
    share_items(8, 100, [&](std::int64_t) noexcept { left_out += still_wanted() ? 0 : 1; });
  }
  EXPECT_EQ(left_out, 50 * 100);
}

TEST(Crew, WorkersAtWorkHaveNumbersOfTheirOwn) {
  constexpr int kWorkers = 7;
  const auto caller = std::this_thread::get_id();
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::array<std::atomic<int>, kWorkers> calls = {};
    std::atomic<bool> is_right = true;
    std::atomic<std::int64_t> left = 1000;
    share_work(kWorkers, [&](int worker) noexcept {
      const bool is_caller = std::this_thread::get_id() == caller;
      if (worker < 0 || worker >= kWorkers || (worker == 0) != is_caller ||
          calls[static_cast<std::size_t>(worker)].fetch_add(1) != 0) {
        is_right = false;
      }
      while (left.fetch_sub(1) > 0) {
      }
    });
    EXPECT_TRUE(is_right);
    EXPECT_EQ(calls[0], 1);
  }
}

// Work within work, deeper than helpers can be offered seats for: the caller does it alone.
std::int64_t count_leaves(int depth) {
  if (depth == 0) return 1;
  std::atomic<std::int64_t> sum = 0;
  share_items(3, depth % 8 == 0 ? 2 : 1,
              [&](std::int64_t) noexcept { sum += count_leaves(depth - 1); });
  return sum;
}
TEST(Crew, WorkMayHaveWorkToShare) { EXPECT_EQ(count_leaves(40), 32); }

TEST(Crew, ManyCallersAtOnce) {
  std::array<std::int64_t, 40> sums = {};
  std::vector<std::thread> callers;
  for (std::size_t c = 0; c < sums.size(); ++c) {
    callers.emplace_back([&sum = sums[c]] {
      for (int repeat = 0; repeat < 20; ++repeat) {
        std::atomic<std::int64_t> total = 0;
        share_items(3, 50, [&](std::int64_t item) noexcept { total += item; });
        sum += total;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const std::int64_t sum : sums) EXPECT_EQ(sum, 20 * 1225);
}

}  // namespace
}  // namespace assay::kernels
