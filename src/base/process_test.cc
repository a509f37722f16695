// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

#include "base/clock.h"
#include "base/file.h"

namespace assay {
namespace {

ProcessSpec shell(const std::string& script) {
  ProcessSpec spec;
  spec.argv = {"sh", "-c", script};
  spec.time_limit_s = 60;
  return spec;
}

// Waits until the process is gone (or a zombie of someone else's); false after ten seconds.
bool gone(pid_t pid) {
  for (int i = 0; i < 1000; ++i) {
    const auto stat = read_small_file("/proc/" + std::to_string(pid) + "/stat");
    if (!stat || stat->find(") Z ") != std::string::npos) return true;
    usleep(10'000);
  }
  return false;
}

pid_t pid_in(const std::string& path) {
  for (int i = 0; i < 1000; ++i) {
    if (const auto text = read_small_file(path); text && !text->empty()) return std::stoi(*text);
    usleep(10'000);
  }
  return -1;
}

TEST(Process, ReportsExitCodeAndOutput) {
  const auto result = run_process(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_FALSE(result.signal);
  EXPECT_EQ(result.stdout_text, "out\n");
  EXPECT_EQ(result.stderr_text, "err\n");
  EXPECT_EQ(result.orphans, 0);
}

// A stopped supervisor keeps no limit: we do.
TEST(Process, AStoppedSupervisorDoesNotOutliveTheLimit) {
  auto spec = shell("kill -STOP $PPID; sleep 1000");
  spec.time_limit_s = 1;
  const auto result = run_process(spec);
  EXPECT_TRUE(result.timed_out);
  std::atomic<bool> stop = true;
  spec.time_limit_s = 1000;
  spec.interrupt = &stop;
  EXPECT_TRUE(run_process(spec).interrupted);
}

TEST(Process, CountsTheProcessorTimeOfAllThatItStarted) {
  const char* busy = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
  const auto one = run_process(shell(busy));
  const auto three = run_process(shell(fmt::format("({0})& ({0})& {0}; wait", busy)));
  EXPECT_GT(one.processor_s, 0);
  EXPECT_GT(three.processor_s, 1.5 * one.processor_s);
}

TEST(Process, CallsWhileItWaits) {
  int calls = 0;
  auto spec = shell("sleep 0.5");
  spec.on_wait = [&] { ++calls; };
  run_process(spec);
  EXPECT_GT(calls, 2);
}

TEST(Process, ReportsSignal) {
  const auto result = run_process(shell("kill -SEGV $$"));
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_FALSE(result.exit_code);
  EXPECT_FALSE(result.over_memory);
}

TEST(Process, ReportsAProgramThatIsNotThere) {
  ProcessSpec spec;
  spec.argv = {"no-such-program-anywhere"};
  EXPECT_EQ(run_process(spec).exec_errno, ENOENT);
  const TemporaryDirectory dir;
  write_file_atomically(dir.path() + "/not-a-program", "\x01\x02");
  ASSERT_EQ(chmod((dir.path() + "/not-a-program").c_str(), 0755), 0);
  spec.argv = {dir.path() + "/not-a-program"};
  EXPECT_EQ(run_process(spec).exec_errno, ENOEXEC);
}

TEST(Process, TimeLimitKillsTheWholeTreeIncludingSessionsOfItsOwn) {
  const TemporaryDirectory dir;
  const auto pid_file = dir.path() + "/pid";
  auto spec = shell("setsid sh -c 'echo $$ > " + pid_file + "; sleep 1000' & sleep 1000");
  spec.time_limit_s = 0.5;
  const auto result = run_process(spec);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_LT(result.wall_s, 20);
  EXPECT_TRUE(gone(pid_in(pid_file)));
}

TEST(Process, KillsAndCountsChildrenThatOutliveIt) {
  const TemporaryDirectory dir;
  const auto pid_file = dir.path() + "/pid";
  const auto result = run_process(shell("setsid sh -c 'echo $$ > " + pid_file +
                                        "; exec sleep 1000' & while [ ! -s " + pid_file +
                                        " ]; do :; done; exit 0"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.orphans, 1);
  EXPECT_TRUE(gone(pid_in(pid_file)));
}

TEST(Process, OneProcessCannotPassTheMemoryLimit) {
  auto spec = shell("exec tail /dev/zero");  // buffers its input until it is stopped
  spec.memory_limit = 64 << 20;
  const auto result = run_process(spec);
  // Where RLIMIT_DATA applies, tail is refused and gives up by itself; otherwise it is killed.
  EXPECT_TRUE(result.over_memory || result.exit_code.value_or(0) != 0);
  EXPECT_FALSE(result.timed_out);
}

TEST(Process, SeveralProcessesTogetherCannotPassTheMemoryLimit) {
  // Each holds 40 MB of the endless input, below the limit; four of them do not fit.
  const std::string one = "cat /dev/zero | tail -c 40000000 & ";
  auto spec = shell(one + one + one + one + "wait");
  spec.memory_limit = 100'000'000;
  const auto result = run_process(spec);
  EXPECT_TRUE(result.over_memory);
  EXPECT_FALSE(result.timed_out);
}

TEST(Process, InterruptEndsTheTree) {
  std::atomic<bool> stop = false;
  auto spec = shell("sleep 1000 & sleep 1000");
  spec.interrupt = &stop;
  std::thread later([&] {
    usleep(200'000);
    stop = true;
  });
  const auto result = run_process(spec);
  later.join();
  EXPECT_TRUE(result.interrupted);
  EXPECT_LT(result.wall_s, 20);
}

TEST(Process, NothingSurvivesTheDeathOfTheParentBySigkill) {
  const TemporaryDirectory dir;
  const auto pid_file = dir.path() + "/pid";
  const auto lock_file = dir.path() + "/lock";
  const pid_t parent = fork();
  if (parent == 0) {
    auto lock = FileLock::try_acquire(lock_file);
    auto spec = shell("setsid sh -c 'echo $$ > " + pid_file + "; sleep 1000' & sleep 1000");
    spec.held_fds = {lock->fd()};
    run_process(spec);
    _exit(0);
  }
  const pid_t grandchild = pid_in(pid_file);
  EXPECT_FALSE(FileLock::try_acquire(lock_file));
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_TRUE(gone(grandchild));
  // The lock is free only once everything is gone.
  std::optional<FileLock> lock;
  for (int i = 0; i < 1000 && !lock; ++i, usleep(10'000)) lock = FileLock::try_acquire(lock_file);
  EXPECT_TRUE(lock);
}

TEST(Process, TheSupervisorHoldsEveryLock) {
  constexpr int kLocks = 200;  // one for each core of a large machine
  const TemporaryDirectory dir;
  const auto path = [&](int i) { return fmt::format("{}/lock-{}", dir.path(), i); };
  const auto pid_file = dir.path() + "/pid";
  const pid_t parent = fork();
  if (parent == 0) {
    std::vector<FileLock> locks;
    auto spec = shell("echo $$ > " + pid_file + "; sleep 1000");
    for (int i = 0; i < kLocks; ++i) {
      locks.push_back(*FileLock::try_acquire(path(i)));
      spec.held_fds.push_back(locks.back().fd());
    }
    std::ranges::reverse(spec.held_fds);  // in no particular order
    std::thread([&] { run_process(spec); }).detach();
    pid_in(pid_file);
    locks.clear();  // only the supervisor holds them now
    pause();
  }
  pid_in(pid_file);
  for (int look = 0; look < 20; ++look, usleep(10'000)) {
    for (int i = 0; i < kLocks; ++i) ASSERT_FALSE(FileLock::try_acquire(path(i))) << i;
  }
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
}

TEST(Process, FloodedOutputKeepsTheTail) {
  const auto result = run_process(shell("yes | head -c 3000000; echo; echo end"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_LE(result.stdout_text.size(), 64u << 10);
  EXPECT_THAT(result.stdout_text, testing::EndsWith("end\n"));
}

TEST(Process, SetsEnvironmentFolderAndCores) {
  auto spec = shell("echo $ASSAY_TEST_VALUE; pwd; grep Cpus_allowed_list /proc/self/status");
  spec.environment = {{"ASSAY_TEST_VALUE", "forty two"}};
  spec.working_directory = "/";
  spec.cpus = {0};
  const auto result = run_process(spec);
  EXPECT_EQ(result.stdout_text, "forty two\n/\nCpus_allowed_list:\t0\n");
}

TEST(Process, ManyAtOnceFromManyThreadsDoNotHoldEachOthersPipes) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        const auto result = run_process(shell("exit " + std::to_string(t)));
        good += result.exit_code == t;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 40);
}

}  // namespace
}  // namespace assay
