// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/dispatch.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::lab {
namespace {

constexpr double kLongPoint = 100;  // seconds: a task of its own

std::vector<PointWork> points(int count, int attempts = 2) {
  return std::vector<PointWork>(static_cast<std::size_t>(count), {kLongPoint, attempts, 0, false});
}

Look ended(TaskId task, Fate fate) { return {{{task, fate, "why"}}, {}}; }

std::size_t points_in(const Submission& submission) {
  std::size_t count = 0;
  for (const auto& task : submission.tasks) count += task.size();
  return count;
}

TEST(Dispatcher, SubmitsEverythingOnce) {
  Dispatcher d(points(5), {.nodes = 5});
  const auto first = d.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(points_in(*first), 5u);
  EXPECT_FALSE(first->urgent);
  EXPECT_FALSE(d.next());
  EXPECT_FALSE(d.over());
  for (int i = 0; i < static_cast<int>(first->tasks.size()); ++i) {
    d.take(ended({first->number, i}, Fate::kDone));
  }
  EXPECT_TRUE(d.over());
}

TEST(Dispatcher, ManyTasksAreSeveralSubmissions) {
  Dispatcher d(points(7), {.nodes = 7, .tasks_of_submission = 3});
  std::vector<std::size_t> sizes;
  while (const auto submission = d.next()) sizes.push_back(points_in(*submission));
  EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 3, 1}));
  EXPECT_EQ(d.active(), 7u);
}

TEST(Dispatcher, NoMoreTasksThanThereIsRoomFor) {
  Dispatcher d(points(5), {.nodes = 5, .tasks_at_once = 2});
  int tasks = 0;
  while (const auto submission = d.next()) {
    EXPECT_EQ(submission->tasks.size(), tasks < 4 ? 2u : 1u);
    EXPECT_FALSE(d.next());
    tasks += static_cast<int>(submission->tasks.size());
    for (int i = 0; i < std::ssize(submission->tasks); ++i) {
      d.take(ended({submission->number, i}, Fate::kDone));
    }
  }
  EXPECT_EQ(tasks, 5);
  EXPECT_TRUE(d.over());
}

TEST(Dispatcher, WhatIsDoneIsNotSubmitted) {
  auto work = points(3);
  work[1].over = true;
  Dispatcher d(work, {.nodes = 3});
  EXPECT_EQ(points_in(*d.next()), 2u);
}

TEST(Dispatcher, OnlyTheRestOfALostTaskComesAgainAndFirst) {
  Dispatcher d(std::vector<PointWork>(3, {1, 2, 0, false}), {.nodes = 1});
  const auto first = *d.next();
  ASSERT_EQ(first.tasks.size(), 1u);
  const auto& order = first.tasks[0];
  Look look = ended({first.number, 0}, Fate::kLost);
  look.attempted = {{order[0], 1}, {order[0], 1}, {order[1], 1}};
  d.take(look);
  const auto again = *d.next();
  EXPECT_GT(again.number, first.number);
  EXPECT_TRUE(again.urgent);
  EXPECT_EQ(points_in(again), 2u);  // the second by half, the third
}

TEST(Dispatcher, WhatSomebodyCancelledStaysSo) {
  Dispatcher d(points(1), {.nodes = 1});
  d.take(ended({d.next()->number, 0}, Fate::kCancelled));
  EXPECT_FALSE(d.next());
  EXPECT_TRUE(d.over());
  EXPECT_EQ(d.held(), 1);
}

TEST(Dispatcher, APointThatOnlyGetsLostEndsTheRun) {
  Dispatcher d(points(1), {.nodes = 1});
  for (int i = 0; i < Dispatcher::kMostLosses; ++i) {
    EXPECT_EQ(d.refused(), "");
    d.take(ended({d.next()->number, 0}, Fate::kLost));
  }
  EXPECT_NE(d.refused().find("why"), std::string::npos);
  EXPECT_FALSE(d.next());
}

TEST(Dispatcher, AnAttemptForgivesLosses) {
  Dispatcher d(points(1, 100), {.nodes = 1});
  for (int i = 0; i < 3 * Dispatcher::kMostLosses; ++i) {
    auto look = ended({d.next()->number, 0}, Fate::kLost);
    look.attempted = {{0, 1}};
    d.take(look);
  }
  EXPECT_EQ(d.refused(), "");
}

TEST(Dispatcher, TakesNoMoreNodesThanAllowed) {
  Dispatcher d(points(6), {.nodes = 2, .at_most = true});
  const auto first = *d.next();
  EXPECT_EQ(first.at_once, 2);
  d.take(ended({first.number, 0}, Fate::kLost));
  EXPECT_FALSE(d.next());  // the others of the first may take both
  for (int i = 1; i < static_cast<int>(first.tasks.size()) - 1; ++i) {
    d.take(ended({first.number, i}, Fate::kDone));
  }
  EXPECT_EQ(d.next()->at_once, 1);
}

TEST(Dispatcher, GoesOnWithWhatAnotherHasSubmitted) {
  Dispatcher d(points(3), {.nodes = 3});
  d.adopt({4, 0}, {0, 2});
  const auto rest = *d.next();
  EXPECT_EQ(rest.number, 5);
  ASSERT_EQ(points_in(rest), 1u);
  EXPECT_EQ(rest.tasks[0][0], 1u);
  d.take(ended({4, 0}, Fate::kDone));
  d.take(ended({5, 0}, Fate::kDone));
  EXPECT_TRUE(d.over());
}

// A cluster that never ends a task by itself.
class Endless final : public Cluster {
 public:
  void submit(const Submission& s) override {
    for (int i = 0; i < static_cast<int>(s.tasks.size()); ++i) open_.push_back({s.number, i});
  }
  Look look() override {
    Look look;
    if (cancelled && --looks_until_gone < 0) {
      for (const auto& task : open_) look.ended.push_back({task, Fate::kCancelled, ""});
      open_.clear();
    }
    return look;
  }
  void cancel() override { cancelled = true; }
  void wait() override {
    if (++waits == 3) *stop = true;
  }
  std::atomic<bool>* stop = nullptr;
  bool cancelled = false;
  int waits = 0, looks_until_gone = 2;

 private:
  std::vector<TaskId> open_;
};

TEST(Follow, AStopCancelsAndWaitsForTheEnd) {
  Dispatcher d(points(4), {.nodes = 2});
  Endless cluster;
  std::atomic<bool> stop = false;
  cluster.stop = &stop;
  EXPECT_EQ(follow(d, cluster, stop), Ending::kInterrupted);
  EXPECT_TRUE(cluster.cancelled);
  EXPECT_EQ(d.active(), 0u);
}

}  // namespace
}  // namespace assay::lab
