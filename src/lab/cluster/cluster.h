// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the decisions of a run on many machines are about, and what they need of a cluster: Slurm in
// earnest (slurm_cluster.h), a simulation where the decisions themselves are looked at
// (tests/cluster). A point with all its rounds is the unit of placement, so that ratios stay within
// one machine; here it is a number, its place in the plan.

#include <compare>
#include <cstddef>
#include <string>
#include <vector>

namespace assay::lab {

// A task: points that go to one node, one after the other. Tasks are submitted together, as an
// array of jobs.
struct TaskId {
  int submission = 0, index = 0;
  auto operator<=>(const TaskId&) const = default;
};

struct Submission {
  int number = 0;
  std::vector<std::vector<std::size_t>> tasks;  // the points of each
  int at_once = 0;                              // no more of them at a time; 0: no limit
  bool urgent = false;                          // before what others of this run wait for
};

// How a task ended.
enum class Fate {
  kDone,       // all its points are measured
  kLost,       // it is not there any more: its node failed, its time ran out
  kCancelled,  // somebody wanted it to end
  kRefused,    // it cannot be done, here or anywhere
};

// What has become of the tasks since the last look. Attempts of a task that has ended are among
// those of the same look, or of an earlier one.
struct Look {
  struct Ended {
    TaskId task;
    Fate fate;
    std::string why;
  };
  struct Attempted {  // and need not be made again
    std::size_t point;
    double seconds;
  };
  std::vector<Ended> ended;
  std::vector<Attempted> attempted;
};

class Cluster {
 public:
  virtual ~Cluster() = default;
  virtual void submit(const Submission& submission) = 0;
  virtual Look look() = 0;
  // Ends every task of this run, waiting or under way, and nothing else. Looks tell when it is so.
  virtual void cancel() = 0;
  // Until it is worth looking again.
  virtual void wait() = 0;
};

}  // namespace assay::lab
