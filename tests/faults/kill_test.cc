// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// A runner that is killed at any moment loses at most the attempt in flight; two runners never
// share a core.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/philox.h"
#include "lab/record/journal.h"

namespace assay::lab {
namespace {

class KillTest : public testing::Test {
 protected:
  KillTest() { setenv("ASSAY_LOCK_DIR", dir_.path().c_str(), 1); }

  pid_t spawn(const std::string& mode, const std::string& journal,
              const char* providers = "plain,twin,simulated", const char* rounds = "4",
              const char* precision = nullptr) {
    const pid_t child = fork();
    if (child == 0) {
      execl(FAULT_LAB, FAULT_LAB, FAULT_WORKER, mode.c_str(), journal.c_str(), providers, rounds,
            precision, nullptr);
      _exit(127);
    }
    return child;
  }
  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  static std::multiset<std::string> attempts(const std::string& journal) {
    std::multiset<std::string> ids;
    for (const auto& row : read_journal(journal).rows) {
      EXPECT_EQ(row.status, Status::kOk) << row.failure_message();
      ids.insert(row.attempt_id);
    }
    return ids;
  }
  TemporaryDirectory dir_;
};

TEST_F(KillTest, ResumingAfterSigkillAlwaysGivesTheSameAttemptsOnce) {
  const auto reference = dir_.path() + "/reference.jsonl";
  const auto start = monotonic_ns();
  ASSERT_EQ(wait_for(spawn("start", reference)), 0);
  double duration_us = static_cast<double>(monotonic_ns() - start) / 1000;
  const auto expected = attempts(reference);
  EXPECT_EQ(expected.size(), 2u * (2 * 4 + 1));
  EXPECT_EQ(std::set(expected.begin(), expected.end()).size(), expected.size());

  constexpr int kKills = 20;
  const Philox stream(2026);
  std::uint64_t draw = 0;
  for (int kills = 0; kills < kKills; ++draw) {
    ASSERT_LT(draw, 200u) << "hardly any kill meets a run that is under way";
    const auto journal = dir_.path() + "/" + std::to_string(draw) + ".jsonl";
    const double moment = unit_interval(stream[draw]) * duration_us;
    const pid_t child = spawn("start", journal);
    usleep(static_cast<useconds_t>(moment));
    kill(child, SIGKILL);
    if (wait_for(child) != -SIGKILL) {
      duration_us = moment;  // it was done before: the machine is faster now than it was
      continue;
    }
    ++kills;
    if (!std::filesystem::exists(journal + ".request.json")) {
      ASSERT_EQ(wait_for(spawn("start", journal)), 0) << "it was killed before it had begun";
    } else {
      ASSERT_EQ(wait_for(spawn("resume", journal)), 0) << "kill " << kills;
    }
    EXPECT_EQ(attempts(journal), expected) << "kill " << kills << " after " << moment << " µs";
    std::set<int> orders;
    for (const auto& row : read_journal(journal).rows) orders.insert(row.order);
    EXPECT_EQ(orders.size(), expected.size()) << "each position in the order is taken once";
  }
}

// So loose a precision that the first look ends it: ten rounds of eighty, whenever it was killed.
TEST_F(KillTest, ARunByPrecisionEndsAtTheSameLookAfterSigkill) {
  for (const int after : {0, 7, 15, 19, 20}) {  // rows of the first of two points
    const auto journal = dir_.path() + "/p" + std::to_string(after) + ".jsonl";
    const pid_t child = spawn("start", journal, "plain,twin", "80", "1000");
    while (!std::filesystem::exists(journal + ".request.json") ||
           std::ranges::count(read_file(journal), '\n') < after) {
      int status = 0;
      if (waitpid(child, &status, WNOHANG) == child) break;  // it was faster than we looked
    }
    kill(child, SIGKILL);
    wait_for(child);
    ASSERT_EQ(wait_for(spawn("resume", journal)), 0);
    const auto rows = read_journal(journal).rows;
    EXPECT_EQ(rows.size(), 2u * 2 * 10) << after;
    EXPECT_EQ(attempts(journal).size(), 2u * 2 * 10);
    int met = 0;
    for (const auto& row : rows) {
      if (row.provenance.stopping) {
        EXPECT_EQ(row.provenance.stopping->decision, "met");
        EXPECT_EQ(row.round, 9);
        ++met;
      }
    }
    EXPECT_EQ(met, 2) << "the last row of each point says so";
  }
}

TEST_F(KillTest, ATornJournalIsContinued) {
  const auto journal = dir_.path() + "/torn.jsonl";
  ASSERT_EQ(wait_for(spawn("start", journal)), 0);
  const auto whole = attempts(journal);
  auto content = read_file(journal);
  const auto last = content.rfind('\n', content.size() - 2);
  write_file_atomically(journal, content.substr(0, last + 40));
  ASSERT_EQ(wait_for(spawn("resume", journal)), 0);
  EXPECT_EQ(attempts(journal), whole);
  std::filesystem::remove(journal + ".request.json");  // the rows alone are enough
  write_file_atomically(journal, content.substr(0, last + 1));
  ASSERT_EQ(wait_for(spawn("resume", journal)), 0);
  EXPECT_EQ(attempts(journal), whole);
}

TEST_F(KillTest, TwoRunnersNeverOverlapOnACore) {
  const auto a = dir_.path() + "/a.jsonl", b = dir_.path() + "/b.jsonl";
  const pid_t first = spawn("start", a, "plain,twin", "12"),
              second = spawn("start", b, "plain,twin", "12");
  ASSERT_EQ(wait_for(first), 0);
  ASSERT_EQ(wait_for(second), 0);
  struct Use {
    std::int64_t start, end;
    std::set<int> cpus;
    char runner;
  };
  std::vector<Use> uses;
  for (const auto& [path, runner] : {std::pair(a, 'a'), std::pair(b, 'b')}) {
    for (const auto& row : read_journal(path).rows) {
      const auto cpus = row.provenance.cpus.value();
      uses.push_back({row.provenance.start_ns.value(),
                      row.provenance.end_ns.value(),
                      {cpus.begin(), cpus.end()},
                      runner});
    }
  }
  ASSERT_EQ(uses.size(), 2u * 2 * 2 * 12);
  std::ranges::sort(uses, {}, &Use::start);
  int changes = 0;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    for (std::size_t j = i + 1; j < uses.size() && uses[j].start < uses[i].end; ++j) {
      std::vector<int> shared;
      std::ranges::set_intersection(uses[i].cpus, uses[j].cpus, std::back_inserter(shared));
      EXPECT_TRUE(shared.empty()) << "attempts " << i << " and " << j << " overlap";
    }
    changes += i > 0 && uses[i].runner != uses[i - 1].runner;
  }
  EXPECT_GT(changes, 1) << "the two runners must have been at work at the same time";
}

}  // namespace
}  // namespace assay::lab
