// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/choose/referee.h"

#include <algorithm>

namespace assay::compiler {
namespace {

// Of programs that take less, steps have no time of their own: threads wake, caches are warm.
constexpr double kLongSeconds = 2e-3;
constexpr int kConfirmingTrials = 9;
constexpr double kGivenUp = 2;  // times the best

class ClockReferee final : public Referee {
 public:
  explicit ClockReferee(RefereeContext context)
      : runtime_(context.runtime),
        trial_(context.trial),
        relative_(context.relative),
        steps_(runtime_, trial_.symbols),
        best_(std::make_unique<TimedProgram>(std::move(context.best), runtime_, trial_)),
        standard_(std::move(context.standard), runtime_, trial_) {
    best_->call();
    best_seconds_ = std::min(best_->call(), best_->call());
  }

  Verdict judge(const Program& candidate) override {
    // Where memory is elsewhere, kernels by themselves are timed with the way there.
    if (best_seconds_ > kLongSeconds && !runtime_.store) {
      const StepTimes::Limits limits{.faster = (1 - kClearlyFaster) * best_seconds_,
                                     .slow = kGivenUp * best_seconds_};
      const auto slower = steps_.difference(best_->executor().program(), candidate, limits);
      const double ratio = slower ? 1 + *slower / best_seconds_ : 0;
      if (ratio > kGivenUp) return {.is_given_up = true, .by_steps = true};
      if (ratio >= kClearlyFaster) return {.relative = relative_ * ratio, .by_steps = true};
    }
    auto timed = std::make_unique<TimedProgram>(candidate, runtime_, trial_);
    const auto times = duel(*best_, *timed, 5, kGivenUp);
    if (!times.second_s) return {.is_given_up = true};
    Verdict verdict{.relative = relative_ * times.ratio};
    // Of many that are no faster, one looks so: it has to be so again, and what is told is its time
    // beside the default program's own, never a product of ratios.
    if (times.ratio >= kClearlyFaster) return verdict;
    const auto again = duel(*best_, *timed, kConfirmingTrials);
    if (!again.second_s || again.most_ratio >= kClearlyFaster) return not_faster(verdict);
    const auto beside = duel(standard_, *timed, kConfirmingTrials);
    if (!beside.second_s || beside.ratio >= relative_ * kClearlyFaster) return not_faster(verdict);
    relative_ = beside.ratio;
    best_seconds_ = *again.second_s;
    best_ = std::move(timed);
    return {.is_faster = true,
            .relative = relative_,
            .low = beside.low_ratio,
            .high = beside.high_ratio};
  }

 private:
  Verdict not_faster(Verdict verdict) const {
    verdict.relative = std::max(verdict.relative, relative_ * kClearlyFaster);
    return verdict;
  }

  const Runtime& runtime_;
  const Trial& trial_;
  double relative_, best_seconds_ = 0;
  StepTimes steps_;
  std::unique_ptr<TimedProgram> best_;
  TimedProgram standard_;
};

}  // namespace

std::unique_ptr<Referee> clock_referee(RefereeContext context) {
  return std::make_unique<ClockReferee>(std::move(context));
}

}  // namespace assay::compiler
