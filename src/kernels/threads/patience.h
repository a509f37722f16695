// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waiting for another thread, briefly.
//
// What is waited for takes microseconds, and a sleeper takes tens of them to wake: so the wait
// begins by looking again and again. On a busy machine, though, the other thread may have been sent
// off its core, and then the core that looks is what it needs: after a while the wait lets others
// run, and then sleeps.

#include <chrono>
#include <thread>

namespace assay::kernels {

class Patience {
 public:
  // Once between two looks.
  void wait() noexcept {
    ++looks_;
    if (is_fresh()) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      asm volatile("isb" ::: "memory");
#endif
    } else if (looks_ < kSpins + kYields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
  // Whether the core is still kept.
  bool is_fresh() const noexcept { return looks_ < kSpins; }

 private:
  static constexpr int kSpins = 400;  // 10 to 20 µs: a pause takes 40 to 140 cycles
  static constexpr int kYields = 16;
  int looks_ = 0;
};

// Returns once `is_done()`.
template <class F>
void wait_until(const F& is_done) noexcept {
  for (Patience patience; !is_done();) patience.wait();
}

}  // namespace assay::kernels
