// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// A run on a simulated cluster, by the very code that decides on a real one: lab/cluster/dispatch.h
// and pack.h. The clock is virtual; nodes, their losses, times and predictions are drawn by chance.
//
//   simulate [NODES POINTS ATTEMPTS MEAN_S LOSS DETECT_S KILLS SEED MISJUDGED]
//
// (ATTEMPTS of each point, MEAN_S seconds on average; LOSS of the nodes, seen after DETECT_S; KILLS
// of the runner, which is away for ten minutes each time; MISJUDGED is sigma of the logarithm of
// predictions) ends with status 0 where every attempt was gathered once, none is missing, and the
// run took at most 10 % longer than any schedule could, and prints what it found. Nodes that are
// lost do not come back: where none is left, it says so and ends with status 1.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <queue>
#include <random>
#include <set>
#include <tuple>

#include "lab/cluster/dispatch.h"

namespace {

using namespace assay::lab;

constexpr double kStartS = 3;    // from Slurm's choice of a node to a task's first attempt
constexpr double kPollS = 5;     // as slurm_run.cc
constexpr double kSpread = 0.5;  // of attempts' times between points, sigma of the logarithm
constexpr double kWithin = 0.1;  // within a point
constexpr double kAwayS = 600;   // until a killed runner is continued

struct Setting {
  int nodes = 1000, points = 10'000, attempts = 10;
  double mean_s = 60, loss = 0.01, detect_s = 300;
  int kills = 3;
  unsigned seed = 1;
  double misjudged = 0.25;
};

struct RunnerKilled {};
struct AllNodesLost {};

class SimulatedCluster final : public Cluster {
 public:
  explicit SimulatedCluster(const Setting& s) : setting_(s), random_(s.seed) {
    std::normal_distribution<double> normal;
    const double centre = std::log(s.mean_s) - kSpread * kSpread / 2;
    for (int p = 0; p < s.points; ++p) {
      const double usual = std::exp(centre + kSpread * normal(random_));
      auto& times = seconds_.emplace_back();
      for (int a = 0; a < s.attempts; ++a) {
        times.push_back(usual * std::exp(kWithin * normal(random_)));
        total_s_ += times.back();
      }
      work.push_back({s.attempts * usual * std::exp(s.misjudged * normal(random_)), s.attempts});
      longest_point_s_ =
          std::max(longest_point_s_, std::accumulate(times.begin(), times.end(), 0.0));
    }
    gathered.resize(seconds_.size(), std::vector<int>(static_cast<std::size_t>(s.attempts)));
    // Nodes fail at any moment of the run.
    const double about_s = total_s_ / s.nodes;
    std::uniform_real_distribution<double> when(0, about_s);
    lost_at_s_.resize(static_cast<std::size_t>(s.nodes), INFINITY);
    const auto lost = static_cast<std::size_t>(std::lround(s.loss * s.nodes));
    for (std::size_t n = 0; n < lost; ++n) {
      lost_at_s_[n] = when(random_);
      events_.push({lost_at_s_[n], kNodeFails, n});
    }
    for (std::size_t n = 0; n < lost_at_s_.size(); ++n) free_.push_back(n);
    std::ranges::shuffle(free_, random_);
    for (int k = 1; k <= s.kills; ++k) kills_s_.push_back(about_s * k / (s.kills + 1));
    running_.resize(lost_at_s_.size());
  }

  // No schedule is shorter: all nodes at work until they are lost, and the longest point.
  double bound_s() const {
    double low = 0, high = 10 * total_s_;
    for (int i = 0; i < 200; ++i) {
      const double middle = (low + high) / 2;
      double could = 0;
      for (const double end : lost_at_s_) could += std::min(middle, end);
      (could < total_s_ ? low : high) = middle;
    }
    return std::max(high, longest_point_s_ + kStartS);
  }

  void submit(const Submission& s) override {
    const Timer timer(*this);
    for (int index = 0; const auto& points : s.tasks) {
      const TaskId id{s.number, index++};
      auto& task = tasks_[id];
      task.points = points;
      // A share begins with the rows that are known: those attempts are not made again.
      for (const auto p : points) {
        for (std::size_t a = 0; a < seconds_[p].size(); ++a) {
          if (gathered[p][a] == 0) task.to_do.emplace_back(p, a);
        }
      }
      queue_.emplace(s.urgent ? 0 : 1, s.number, id.index);
    }
    ++submissions;
    submitted_tasks += s.tasks.size();
    start_tasks();
  }

  Look look() override {
    const Timer timer(*this);
    Look look;
    for (auto task = tasks_.begin(); task != tasks_.end();) {
      auto& t = task->second;
      for (; t.told < t.written; ++t.told) {
        const auto [p, a] = t.to_do[t.told];
        ++gathered[p][a];
        look.attempted.push_back({p, seconds_[p][a]});
      }
      if (t.fate) {
        look.ended.push_back({task->first, *t.fate, "its node failed"});
        task = tasks_.erase(task);
      } else {
        ++task;
      }
    }
    return look;
  }

  void cancel() override { std::abort(); }  // nobody stops this run

  void wait() override {
    const Timer timer(*this);
    const bool is_over = std::ranges::all_of(lost_at_s_, [&](double at) { return at <= now_s_; });
    if (is_over && events_.empty()) throw AllNodesLost();
    advance(now_s_ + kPollS);
    if (!kills_s_.empty() && now_s_ >= kills_s_.front()) {
      kills_s_.erase(kills_s_.begin());
      advance(now_s_ + kAwayS);
      throw RunnerKilled();
    }
  }

  std::map<TaskId, std::vector<std::size_t>> open() const {
    std::map<TaskId, std::vector<std::size_t>> open;
    for (const auto& [id, task] : tasks_) open[id] = task.points;
    return open;
  }

  double last_attempt_s() const { return last_attempt_s_; }
  double last_loss_s() const { return std::ranges::max(lost_at_s_); }
  double total_s() const { return total_s_; }

  std::vector<PointWork> work;
  std::vector<std::vector<int>> gathered;  // how often, by point and attempt
  std::int64_t made = 0, submissions = 0;
  std::size_t submitted_tasks = 0;
  double own_s = 0;  // processor time of the simulation itself

 private:
  enum Kind { kAttemptEnds, kNodeFails, kFailureSeen };
  using Event = std::tuple<double, Kind, std::size_t>;  // when, what, on which node

  struct Task {
    std::vector<std::size_t> points;
    std::vector<std::pair<std::size_t, std::size_t>> to_do;  // point, attempt
    std::size_t written = 0, told = 0;
    std::optional<Fate> fate;
  };

  // What the simulation takes is not the scheduler's.
  class Timer {
   public:
    explicit Timer(SimulatedCluster& of) : of_(of), start_(processor_s()) {}
    ~Timer() { of_.own_s += processor_s() - start_; }

   private:
    SimulatedCluster& of_;
    double start_;
  };

 public:
  static double processor_s() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }

 private:
  bool is_lost(std::size_t node) const { return lost_at_s_[node] <= now_s_; }

  void start_tasks() {
    while (!queue_.empty() && !free_.empty()) {
      const auto node = free_.back();
      free_.pop_back();
      if (is_lost(node)) continue;
      const auto [urgent, number, index] = *queue_.begin();
      queue_.erase(queue_.begin());
      running_[node] = TaskId{number, index};
      begin_attempt(node, kStartS);
    }
  }

  void begin_attempt(std::size_t node, double delay_s) {
    auto& task = tasks_.at(*running_[node]);
    if (task.written == task.to_do.size()) {
      task.fate = Fate::kDone;
      running_[node].reset();
      free_.push_back(node);
      return;
    }
    const auto [p, a] = task.to_do[task.written];
    events_.push({now_s_ + delay_s + seconds_[p][a], kAttemptEnds, node});
  }

  void advance(double until) {
    while (!events_.empty() && std::get<0>(events_.top()) <= until) {
      const auto [when, kind, node] = events_.top();
      events_.pop();
      now_s_ = when;
      if (kind == kAttemptEnds && !is_lost(node)) {
        ++tasks_.at(*running_[node]).written;
        ++made;
        last_attempt_s_ = now_s_;
        begin_attempt(node, 0);
        start_tasks();
      } else if (kind == kNodeFails && running_[node]) {
        events_.push({now_s_ + setting_.detect_s, kFailureSeen, node});
      } else if (kind == kFailureSeen) {
        tasks_.at(*running_[node]).fate = Fate::kLost;
        running_[node].reset();
      }
    }
    now_s_ = until;
  }

  Setting setting_;
  std::mt19937_64 random_;
  std::vector<std::vector<double>> seconds_;  // by point and attempt
  std::vector<double> lost_at_s_, kills_s_;
  double total_s_ = 0, longest_point_s_ = 0, now_s_ = 0, last_attempt_s_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::map<TaskId, Task> tasks_;  // that nobody has heard the end of
  std::set<std::tuple<int, int, int>> queue_;
  std::vector<std::size_t> free_;
  std::vector<std::optional<TaskId>> running_;  // by node
};

Setting setting_from(int argc, char** argv) {
  Setting s;
  const auto number = [&](int i, double otherwise) {
    return i < argc ? std::strtod(argv[i], nullptr) : otherwise;
  };
  s.nodes = static_cast<int>(number(1, s.nodes));
  s.points = static_cast<int>(number(2, s.points));
  s.attempts = static_cast<int>(number(3, s.attempts));
  s.mean_s = number(4, s.mean_s);
  s.loss = number(5, s.loss);
  s.detect_s = number(6, s.detect_s);
  s.kills = static_cast<int>(number(7, s.kills));
  s.seed = static_cast<unsigned>(number(8, s.seed));
  s.misjudged = number(9, s.misjudged);
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  const auto setting = setting_from(argc, argv);
  if (setting.nodes < 1 || setting.points < 1 || setting.attempts < 1) {
    std::fputs(
        "simulate_cluster [NODES POINTS ATTEMPTS MEAN_S LOSS DETECT_S KILLS SEED MISJUDGED]\n",
        stderr);
    return 2;
  }
  SimulatedCluster cluster(setting);
  const std::atomic<bool> stop = false;
  const double start = SimulatedCluster::processor_s();
  int runners = 0;
  bool some_node_is_left = true;
  for (bool complete = false; !complete && some_node_is_left;) {
    ++runners;
    auto work = cluster.work;  // a runner knows what the journal says, and what is in files
    for (std::size_t p = 0; p < work.size(); ++p) {
      work[p].done = static_cast<int>(
          std::ranges::count_if(cluster.gathered[p], [](int times) { return times > 0; }));
      work[p].over = work[p].done >= work[p].attempts;
    }
    Dispatcher dispatcher(
        std::move(work),
        {.nodes = setting.nodes, .first_number = static_cast<int>(cluster.submissions) + 1});
    for (const auto& [task, points] : cluster.open()) dispatcher.adopt(task, points);
    try {
      complete = follow(dispatcher, cluster, stop) == Ending::kComplete;
    } catch (const RunnerKilled&) {
    } catch (const AllNodesLost&) {
      some_node_is_left = false;
    }
  }
  const double scheduler_s = SimulatedCluster::processor_s() - start - cluster.own_s;

  std::int64_t missing = 0, twice = 0;
  for (const auto& point : cluster.gathered) {
    for (const int times : point) {
      missing += times == 0 ? 1 : 0;
      twice += times > 1 ? 1 : 0;
    }
  }
  const auto attempts = static_cast<std::int64_t>(setting.points) * setting.attempts;
  fmt::print("{} attempts at {} points on {} nodes, {:.1f} % lost, seen after {:g} s; {} runners\n",
             attempts, setting.points, setting.nodes, 100 * setting.loss, setting.detect_s,
             runners);
  fmt::print("  {} tasks in {} submissions; {} made, {} missing, {} twice\n",
             cluster.submitted_tasks, cluster.submissions, cluster.made, missing, twice);
  if (!some_node_is_left) {
    fmt::print(
        "  all {} nodes were lost, the last after {:.0f} s: {} of {} attempts were not made\n",
        setting.nodes, cluster.last_loss_s(), attempts - cluster.made, attempts);
    fmt::print("FAILS\n");
    return 1;
  }
  const double bound = cluster.bound_s(), took = cluster.last_attempt_s();
  fmt::print("  makespan {:.0f} s, bound {:.0f} s: {:+.1f} %; scheduler {:.1f} us per attempt\n",
             took, bound, 100 * (took / bound - 1),
             1e6 * scheduler_s / static_cast<double>(attempts));
  const bool holds = missing == 0 && twice == 0 && cluster.made == attempts && took <= 1.1 * bound;
  fmt::print("{}\n", holds ? "holds" : "FAILS");
  return holds ? 0 : 1;
}
