// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>

#include "base/attend.h"
#include "base/clock.h"

namespace assay {

// Until the next look at an attention is one that asks.
inline void let_attention_wait() {
  const auto end = monotonic_ns() + Attention::kBetween_ns;
  while (monotonic_ns() <= end) std::this_thread::yield();
}

// Work of this scope is not wanted: it ends, by an exception of this class, where it first attends.
struct Unwanted {
  class Ended {};

  Unwanted() { let_attention_wait(); }
  Attention attention{[] { throw Ended(); }};
};

}  // namespace assay
