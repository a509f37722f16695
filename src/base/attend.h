// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether long work is still wanted.
//
// Whoever waits for a result may change their mind (Ctrl-C in Python), and only the thread that
// computes can stop computing. So engines ask now and then, between two steps of milliseconds:
//
//   attend()        throws what is to end the work: wherever an exception may leave from
//   still_wanted()  for kernels and shared work, which must not throw: where it is false they
//                   leave, with results that nobody may use; their caller asks by attend()
//
// Whoever wants to be asked makes an Attention. Where nobody did, both look at a null pointer.

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>

namespace assay {

class Attention {
 public:
  // As long as this lives, work of this thread asks `ask`, not more than once in kBetween_ns. What
  // it throws is what ends the work. Attentions of one thread end in the opposite order; only the
  // newest is asked.
  explicit Attention(std::function<void()> ask);
  ~Attention();
  Attention(const Attention&) = delete;
  Attention& operator=(const Attention&) = delete;

  static constexpr std::int64_t kBetween_ns = 50'000'000;

  // For the thread that made this: may ask. For others: whether the work has ended.
  bool is_wanted() noexcept;
  // Throws what ended the work.
  void check();

 private:
  std::function<void()> ask_;
  const std::thread::id asker_ = std::this_thread::get_id();
  std::int64_t next_ns_;
  std::exception_ptr why_;  // written before is_over_
  std::atomic<bool> is_over_ = false;
  Attention* outer_;
};

// What this thread's work attends to; null: to nothing.
inline thread_local Attention* attention_here = nullptr;

// For threads that share work in other ways than kernels/threads has, of whoever shared it.
inline bool still_wanted(Attention* attention) noexcept {
  return attention == nullptr || attention->is_wanted();
}
inline bool still_wanted() noexcept { return still_wanted(attention_here); }
inline void attend() {
  if (attention_here != nullptr) attention_here->check();
}

// A thread that helps another one attends to what that one does, until the end of the scope.
class AttendTo {
 public:
  explicit AttendTo(Attention* attention) noexcept : before_(attention_here) {
    attention_here = attention;
  }
  ~AttendTo() { attention_here = before_; }
  AttendTo(const AttendTo&) = delete;
  AttendTo& operator=(const AttendTo&) = delete;

 private:
  Attention* before_;
};

}  // namespace assay
