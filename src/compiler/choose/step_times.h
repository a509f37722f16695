// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How long steps of programs take by themselves.
//
// Two candidates share most of their steps, and a large layer takes a tenth of a second: to time
// whole programs beside each other takes longer than everything else a search does. So a candidate
// is first judged by the steps in which it differs, and a kernel that was timed once is not timed
// again. What comes of that is good enough to let a candidate go, never to make it the best.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/run/executor.h"
#include "tensor/tensor.h"

namespace assay::compiler {

class StepTimes {
 public:
  // At those values of symbols. The runtime lives as long.
  StepTimes(const Runtime& runtime, Bindings symbols);
  ~StepTimes();

  struct Limits {
    double faster = 0;  // who is faster by more is measured anew, in turns, five times
    double slow = 0;    // a step that takes longer is called once
  };
  // Seconds by which `candidate` takes longer than `best`, by the steps that only one of them has:
  // medians of three trials. Both are programs of one graph, and verified. Nothing where a step
  // reads indices: how long it takes is a matter of what they are.
  std::optional<double> difference(const Program& best, const Program& candidate,
                                   const Limits& limits);

 private:
  class Bench;
  struct Known {
    Kernel kernel;
    std::vector<bool> is_input;  // of operands: of the whole program, as weights are
    std::optional<double> seconds;
  };
  using Counts = std::map<std::string, int>;  // of keys of known_

  Counts counts_of(const Program& program);
  void measure(const std::set<std::string>& keys, int trials, double limit);
  double sum_of(const Counts& counts) const;

  const Runtime& runtime_;
  Bindings symbols_;
  std::map<std::string, Known> known_;
  // Weights come from memory if there are more than the caches hold: as much as all inputs of a
  // dtype, of which every call reads another part.
  std::map<DType, Tensor> pools_;
  std::map<DType, std::int64_t> next_;
};

}  // namespace assay::compiler
