// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loops that do one thing as fast as a core can, for peaks.h to time.

#include <cstdint>

namespace assay::kernels {

// One form of a loop: how many times it did its operation per iteration, on how many numbers.
template <typename T>
struct PeakLoop {
  void (*run)(std::int64_t iterations, const T* seeds, T* sink);
  double per_iteration;  // pairs (multiply-adds, …)
};

// All forms of the loops that are worth trying: they differ in how many independent operations they
// keep in flight, and which is best depends on latencies and registers.
template <typename T>
struct PeakKernels {
  static constexpr int kForms = 4, kSeeds = 64;
  PeakLoop<T> fma[kForms];      // x·y + z
  PeakLoop<T> add_max[kForms];  // max(x + y, z)
  PeakLoop<T> sub_fma[kForms];  // (x − y)² + z
  // y = exp(x), `size` of them.
  void (*exp)(const T* x, T* y, std::int64_t size);
  // The sum of all elements, and y = a + 3·b, in whole vectors (size a multiple of 256, arrays on
  // cache lines).
  T (*read)(const T* x, std::int64_t size);
  void (*triad)(const T* a, const T* b, T* y, std::int64_t size);
  // The same; y is written past the caches where the instruction set can, and read by nobody
  // before.
  void (*triad_streamed)(const T* a, const T* b, T* y, std::int64_t size);
};

const PeakKernels<float>& peak_kernels(float);
const PeakKernels<double>& peak_kernels(double);

}  // namespace assay::kernels
