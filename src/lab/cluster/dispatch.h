// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a run on a cluster does next: which points go together, what is submitted again, when it is
// over. Decides from what it is told alone, without a clock, a file or a cluster, so that a
// simulation judges the very code that a run uses.

#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/cluster/cluster.h"

namespace assay::lab {

struct PointWork {
  double predicted_s = 1;  // of all its attempts
  int attempts = 1;        // that it has if nothing is tried again
  int done = 0;            // by earlier parts of the run
  bool over = false;       // nothing is left to do, whatever the counts say
};

struct DispatchLimits {
  int nodes = 1;         // that there are, or that may be used
  bool at_most = false;  // never more of them than that
  double longest_task_s = std::numeric_limits<double>::infinity();
  std::size_t tasks_of_submission = 1000;
  // Under way; more are submitted when these are over.
  std::size_t tasks_at_once = std::numeric_limits<std::size_t>::max();
  int first_number = 1;  // of its submissions: numbers of earlier runners are not used again
};

class Dispatcher {
 public:
  Dispatcher(std::vector<PointWork> points, const DispatchLimits& limits);

  // A task that an earlier runner has submitted.
  void adopt(TaskId task, std::vector<std::size_t> points);
  void take(const Look& look);
  // What is to be submitted now; nothing when there is nothing, or when no node may be used for it.
  std::optional<Submission> next();

  // Nothing is under way, and nothing is to be submitted.
  bool over() const { return tasks_.empty() && waiting_ == 0; }
  std::size_t active() const { return tasks_.size(); }
  // Points of tasks that somebody cancelled: they are not submitted again by this runner.
  int held() const { return held_; }
  // Why the run cannot go on; empty: it can.
  const std::string& refused() const { return refused_; }

  // A point whose tasks are lost so often, one after the other and without an attempt, is no
  // accident.
  static constexpr int kMostLosses = 5;

 private:
  enum class State { kWaiting, kSubmitted, kOver, kHeld };
  struct Point {
    PointWork work;
    State state = State::kWaiting;
    double measured_s = 0;  // of attempts that this runner heard of
    int measured = 0;
    int losses = 0;  // since the last attempt
  };
  double left_s(const Point& point) const;
  void end(const Look::Ended& ended);

  std::vector<Point> points_;
  DispatchLimits limits_;
  std::map<TaskId, std::vector<std::size_t>> tasks_;  // under way
  int next_number_;
  std::size_t waiting_ = 0;
  int held_ = 0;
  bool some_lost_ = false;  // what waits was submitted before
  std::string refused_;
};

enum class Ending { kComplete, kInterrupted, kHeld };

// Runs everything: submits, looks, submits what was lost again. When `stop` becomes true, cancels
// and waits for the end of what was submitted. Throws EnvironmentError where the run cannot go on,
// after the same. `tell` hears of every submission.
Ending follow(Dispatcher& dispatcher, Cluster& cluster, const std::atomic<bool>& stop,
              const std::function<void(const Submission&)>& tell = {});

}  // namespace assay::lab
