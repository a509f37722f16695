// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/attend.h"

#include <utility>

#include "base/clock.h"

namespace assay {

Attention::Attention(std::function<void()> ask)
    : ask_(std::move(ask)),
      next_ns_(monotonic_ns() + kBetween_ns),
      outer_(std::exchange(attention_here, this)) {}

Attention::~Attention() { attention_here = outer_; }

bool Attention::is_wanted() noexcept {
  if (is_over_.load(std::memory_order_acquire)) return false;
  if (std::this_thread::get_id() != asker_ || monotonic_ns() < next_ns_) return true;
  try {
    ask_();
  } catch (...) {
    why_ = std::current_exception();
    is_over_.store(true, std::memory_order_release);
    return false;
  }
  next_ns_ = monotonic_ns() + kBetween_ns;
  return true;
}

void Attention::check() {
  if (!is_wanted()) std::rethrow_exception(why_);
}

}  // namespace assay
