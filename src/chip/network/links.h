// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Directed links that carry one packet after another. A link is taken from the arrival of a
// packet's head (or the moment the link is free) for as long as its bytes last; the head reaches
// the other end one latency after it started. Because processes reserve in the order of time,
// whoever comes first is served first, and no queue is kept.

#include <algorithm>
#include <vector>

#include "chip/kernel/time.h"

namespace assay::chip {

class Links {
 public:
  explicit Links(std::size_t count) : available_at_(count, 0), busy_(count, 0) {}

  // Takes the link for `occupancy` from `now` on, or from when it is free; returns the start.
  Time reserve(std::int32_t link, Time now, Time occupancy) {
    Time& available = available_at_[static_cast<std::size_t>(link)];
    const Time start = std::max(now, available);
    available = start + occupancy;
    busy_[static_cast<std::size_t>(link)] += occupancy;
    return start;
  }

  // How long the busiest link was taken; 0 where there is none.
  Time busiest() const { return busy_.empty() ? 0 : *std::max_element(busy_.begin(), busy_.end()); }

 private:
  std::vector<Time> available_at_, busy_;
};

}  // namespace assay::chip
