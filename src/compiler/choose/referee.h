// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who says whether a candidate is faster than the best so far.

#include <functional>
#include <memory>

#include "compiler/choose/step_times.h"
#include "compiler/choose/timing.h"

namespace assay::compiler {

// A candidate must be that much faster to take the best one's place: less is the clock's word
// against its own, and another search would end elsewhere.
inline constexpr double kClearlyFaster = 0.95;

struct Verdict {
  bool is_given_up = false;  // more than twice the best one's time: not timed to the end
  bool is_faster = false;    // and the best from now on
  double relative = 1;       // time over the default program's
  double low = 1, high = 1;  // of a faster one: what that is between (timing.h)
  bool by_steps = false;     // not timed as a whole: the steps that are its own are no faster
};

class Referee {
 public:
  virtual ~Referee() = default;
  // Of a program that is verified.
  virtual Verdict judge(const Program& candidate) = 0;
};

// For a search that begins with `best`, which takes `relative` of the default program's time. All
// that is given lives as long.
struct RefereeContext {
  const Runtime& runtime;
  const Trial& trial;
  Program standard;  // the default program
  Program best;
  double relative = 1;
};
using RefereeMaker = std::function<std::unique_ptr<Referee>(RefereeContext)>;

// By the clock: in turns with the best, warm, medians of five trials; given up at twice its time.
// Where that takes long, first by the steps alone that the two do not share (step_times.h). Who
// looks faster has to be so again in more trials, and in nine beside the default program, from
// which the speed that is told comes.
std::unique_ptr<Referee> clock_referee(RefereeContext context);

}  // namespace assay::compiler
