// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/run/cores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "base/error.h"

namespace assay::lab {
namespace {

class CoresTest : public testing::Test {
 protected:
  void SetUp() override { setenv("ASSAY_LOCK_DIR", dir_.path().c_str(), 1); }
  void TearDown() override { unsetenv("ASSAY_LOCK_DIR"); }
  TemporaryDirectory dir_;
};

TEST_F(CoresTest, GroupsAreDisjoint) {
  const auto all = core_groups(1, 0);
  ASSERT_EQ(all.size(), 1u);
  const int cores = static_cast<int>(all[0].size());
  std::set<int> seen;
  for (const auto& group : core_groups(cores, 1)) {
    EXPECT_EQ(group.size(), 1u);
    for (int cpu : group) EXPECT_TRUE(seen.insert(cpu).second);
  }
  EXPECT_EQ(static_cast<int>(seen.size()), cores);
}

TEST_F(CoresTest, MoreThanThereAreIsRefused) {
  EXPECT_THAT([] { core_groups(1, 100000); },
              testing::ThrowsMessage<EnvironmentError>(testing::HasSubstr("need 100000 cores")));
  EXPECT_THAT([] { core_groups(65536, 65536); }, testing::ThrowsMessage<EnvironmentError>(
                                                     testing::HasSubstr("need 4294967296 cores")));
}

// Takes the lock if that needs no waiting.
std::optional<CoreLock> try_acquire(const std::vector<int>& cpus) {
  const std::atomic<bool> stop = true;
  return CoreLock::acquire(cpus, stop);
}

TEST_F(CoresTest, OverlappingGroupsExcludeEachOther) {
  auto first = try_acquire({0, 1});
  ASSERT_TRUE(first);
  EXPECT_FALSE(try_acquire({1, 2}));
  EXPECT_TRUE(try_acquire({2, 3})) << "the failed attempt held nothing";
  first.reset();
  EXPECT_TRUE(try_acquire({1, 2}));
}

TEST_F(CoresTest, WhoWaitsComesNext) {
  auto held = try_acquire({0});
  ASSERT_TRUE(held);
  std::atomic<bool> stop = false, acquired = false;
  std::thread waiter([&] { acquired = CoreLock::acquire({0}, stop).has_value(); });
  // Once it has passed the turnstile, nobody else can, whether the core is free or not.
  while (FileLock::try_acquire(dir_.path() + "/cpu-0.turn")) {
  }
  EXPECT_FALSE(try_acquire({0}));
  held.reset();
  waiter.join();
  EXPECT_TRUE(acquired);
}

}  // namespace
}  // namespace assay::lab
