// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/record/case.h"
#include "lab/record/row.h"

namespace assay::lab {

// What a run has done so far, as its journal tells: which attempts are complete, which must be
// tried again, and what was learnt about memory and time. Built from rows alone, so that a resumed
// run knows exactly what an uninterrupted one would. Not thread-safe.
class Ledger {
 public:
  explicit Ledger(int max_tries) : max_tries_(max_tries) {}

  void record(const Case& definition, const Row& row);

  // The try number of the attempt to be made now; nothing when it is complete, or was excluded as
  // often as allowed. One that was interrupted is made again however often that happens.
  std::optional<int> next_try(const Case& definition, const Json& point,
                              const std::string& provider, const std::string& platform,
                              int round) const;

  // Why this provider is not attempted at this point any more: it ran out of time there, or out of
  // memory there or at a smaller point.
  std::optional<Skip> given_up(const Case& definition, const Json& point,
                               const std::string& provider, const std::string& platform) const;

  // Whether an attempt of this try that others disturb is made again: not after as many tries as
  // allowed, nor where exclusion never ends, because the last kMostKept attempts were all kept
  // though every try of theirs was disturbed. The first that is not disturbed ends that.
  bool may_repeat(int try_number) const {
    return try_number + 1 < max_tries_ && kept_disturbed_ < kMostKept;
  }
  static constexpr int kMostKept = 3;

  int next_order() const { return next_order_; }

 private:
  struct Tries {
    bool complete = false;
    int count = 0;     // the number of the next
    int excluded = 0;  // those that others disturbed
  };
  int max_tries_;
  int next_order_ = 0;
  int kept_disturbed_ = 0;                   // one after the other
  std::map<std::string, Tries> tries_;       // by case, point, provider, platform, round
  std::map<std::string, double> timed_out_;  // by case, point, provider, platform
  struct TooLarge {
    double size;
    Json point;
  };
  std::map<std::string, TooLarge> out_of_memory_;  // by case, provider, platform: the smallest
};

}  // namespace assay::lab
