// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/dispatch.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "lab/cluster/pack.h"

namespace assay::lab {

Dispatcher::Dispatcher(std::vector<PointWork> points, const DispatchLimits& limits)
    : limits_(limits), next_number_(limits.first_number) {
  for (auto& work : points) {
    points_.push_back({work, work.over ? State::kOver : State::kWaiting});
    waiting_ += work.over ? 0 : 1;
  }
}

void Dispatcher::adopt(TaskId task, std::vector<std::size_t> points) {
  next_number_ = std::max(next_number_, task.submission + 1);
  for (const auto i : points) {
    waiting_ -= points_.at(i).state == State::kWaiting ? 1 : 0;
    points_[i].state = State::kSubmitted;
  }
  tasks_[task] = std::move(points);
}

void Dispatcher::take(const Look& look) {
  for (const auto& attempt : look.attempted) {
    auto& point = points_.at(attempt.point);
    ++point.work.done;
    ++point.measured;
    point.measured_s += attempt.seconds;
    point.losses = 0;
  }
  for (const auto& ended : look.ended) end(ended);
}

void Dispatcher::end(const Look::Ended& ended) {
  const auto task = tasks_.find(ended.task);
  if (task == tasks_.end()) return;
  const auto points = std::move(task->second);
  tasks_.erase(task);
  if (ended.fate == Fate::kRefused && refused_.empty()) refused_ = ended.why;
  for (const auto i : points) {
    auto& point = points_[i];
    if (ended.fate == Fate::kDone || point.work.done >= point.work.attempts) {
      point.state = State::kOver;
    } else if (ended.fate == Fate::kLost) {
      point.state = State::kWaiting;
      ++waiting_;
      some_lost_ = true;
    } else {
      point.state = State::kHeld;
      ++held_;
    }
  }
  // The first that is not done is the one that was under way: the others had no chance.
  const auto blamed =
      std::ranges::find(points, State::kWaiting, [&](std::size_t i) { return points_[i].state; });
  if (blamed == points.end()) return;
  if (++points_[*blamed].losses >= kMostLosses && refused_.empty()) {
    refused_ =
        fmt::format("{} tasks in a row ended without an attempt: {}", kMostLosses, ended.why);
  }
}

double Dispatcher::left_s(const Point& point) const {
  const auto& work = point.work;
  const double each = point.measured > 0 ? point.measured_s / point.measured
                                         : work.predicted_s / std::max(1, work.attempts);
  return each * std::max(1, work.attempts - work.done);
}

std::optional<Submission> Dispatcher::next() {
  if (waiting_ == 0 || !refused_.empty()) return std::nullopt;
  if (tasks_.size() >= limits_.tasks_at_once) return std::nullopt;
  Submission submission{next_number_, {}, 0, some_lost_};
  if (limits_.at_most) {
    submission.at_once = limits_.nodes - static_cast<int>(tasks_.size());
    if (submission.at_once <= 0) return std::nullopt;
  }
  std::vector<std::size_t> waiting;
  std::vector<double> seconds;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (points_[i].state != State::kWaiting) continue;
    waiting.push_back(i);
    seconds.push_back(left_s(points_[i]));
  }
  submission.tasks = pack(seconds, {.nodes = limits_.nodes,
                                    .longest_s = limits_.longest_task_s,
                                    .most_tasks = std::min(limits_.tasks_of_submission,
                                                           limits_.tasks_at_once - tasks_.size())});
  ++next_number_;
  for (int index = 0; auto& task : submission.tasks) {
    for (auto& i : task) {
      i = waiting[i];
      points_[i].state = State::kSubmitted;
    }
    waiting_ -= task.size();
    tasks_[{submission.number, index++}] = task;
  }
  return submission;
}

Ending follow(Dispatcher& dispatcher, Cluster& cluster, const std::atomic<bool>& stop,
              const std::function<void(const Submission&)>& tell) {
  while (true) {
    dispatcher.take(cluster.look());
    if (stop.load() || !dispatcher.refused().empty()) break;
    while (const auto submission = dispatcher.next()) {
      cluster.submit(*submission);
      if (tell) tell(*submission);
    }
    if (dispatcher.over()) return dispatcher.held() > 0 ? Ending::kHeld : Ending::kComplete;
    cluster.wait();
  }
  cluster.cancel();
  for (dispatcher.take(cluster.look()); dispatcher.active() > 0;) {
    cluster.wait();
    dispatcher.take(cluster.look());
  }
  if (!dispatcher.refused().empty()) throw EnvironmentError(dispatcher.refused());
  return Ending::kInterrupted;
}

}  // namespace assay::lab
