// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How long programs take, beside each other.

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/run/executor.h"
#include "compiler/verify/test_inputs.h"

namespace assay::compiler {

// The median; of an even number the greater of the two. Not of nothing.
double middle_of(std::vector<double> values);

// A program on inputs that others may read too, ready to be called again and again.
class TimedProgram {
 public:
  // The trial lives as long.
  TimedProgram(Program program, const Runtime& runtime, const Trial& trial);
  // Once, in seconds.
  double call();
  // How often it is called in one trial, so that the clock can tell.
  void calibrate(double call_seconds, double least_seconds);
  // The median of those calls: on a busy machine some of them wait for a core, and a program is not
  // slower for that.
  double trial();
  Executor& executor() { return executor_; }
  // Seconds of each step in one call.
  std::vector<double> step_seconds();

 private:
  void place_in_store(const Trial& trial);

  Executor executor_;
  std::shared_ptr<Store> store_;  // where the operands lie; null: in this process
  Bindings symbols_;
  std::vector<Tensor> tensors_;
  std::vector<std::shared_ptr<std::byte>> stored_;
  std::vector<std::byte*> pointers_;
  int calls_ = 1;
};

// Medians of `trials` trials each, in turns, after a warm call of both; of three where the second
// is slower in all of them. It is given up, and has no value, once it takes more than `limit` times
// the first.
struct Duel {
  double first_s = 0;
  std::optional<double> second_s;
  // Second over first, of pairs that were timed one after the other: the median, and what three of
  // four do not exceed.
  double ratio = 0, most_ratio = 0;
  // What the median of such pairs is between: all of few, of nine all but one at each end (96 %).
  double low_ratio = 0, high_ratio = 0;
};
Duel duel(TimedProgram& first, TimedProgram& second, int trials = 5, double limit = 2);

}  // namespace assay::compiler
