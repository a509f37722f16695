// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The times that a spinning attempt takes, drawn beforehand from its point and its identity.

#include <cstdint>
#include <string_view>

#include "base/json.h"
#include "base/philox.h"

namespace assay::cases::harness {

class SpinTimes {
 public:
  // `attempt` is the attempt's identity (attempt_id, which covers round and provider's name): the
  // same attempt draws the same times again, any two different ones are independent.
  // `slower`: whether this provider is the one that takes 1 + slower_bp/10⁴ as long.
  SpinTimes(const Json& point, std::string_view attempt, bool slower);

  // Seconds of call number i: mean · process · call · spike, where `process` was drawn once and the
  // others for each call. Never below a tenth of the mean, whatever is drawn.
  double of_call(std::uint64_t i) const;
  double process() const { return process_; }

 private:
  double normal(std::uint64_t i) const;

  Philox stream_;
  double mean_s_, call_sigma_, spike_chance_;
  double process_ = 1;
};

}  // namespace assay::cases::harness
