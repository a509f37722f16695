// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace assay::kernels {

// While it lives, results of this thread that would be denormal are 0. x86 takes a hundred cycles
// for each of them, and a product of exponentials makes many on its way to sums that are not:
// `spread` inputs took five times as long. Other processors compute them at full speed.
class FlushDenormals {
 public:
  explicit FlushDenormals(bool wanted) : wanted_(wanted), saved_(wanted ? read() : 0) {
    if (wanted_) write(saved_ | kFlushToZero);
  }
  ~FlushDenormals() {
    if (wanted_) write(saved_);
  }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  static constexpr unsigned kFlushToZero = 0x8000;
#if defined(__x86_64__)
  static unsigned read() { return _mm_getcsr(); }
  static void write(unsigned state) { _mm_setcsr(state); }
#else
  static unsigned read() { return 0; }
  static void write(unsigned) {}
#endif
  bool wanted_;
  unsigned saved_;
};

}  // namespace assay::kernels
