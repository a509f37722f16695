// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/peaks/peaks.h"

#include <omp.h>

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "kernels/memory/scratch.h"
#include "kernels/peaks/peak_kernels.h"
#include "kernels/targets.h"

namespace assay::kernels {
namespace {

// Calls work(repeats) with growing repeats until it takes `seconds`; the rate of the longest call.
// work(repeats) does `per_repeat` operations for each repeat.
template <class Work>
double rate(double seconds, double per_repeat, const Work& work) {
  const auto wanted = static_cast<std::int64_t>(seconds * 1e9);
  for (std::int64_t repeats = 1;; repeats *= 2) {
    const std::int64_t before = monotonic_ns();
    work(repeats);
    const std::int64_t took = std::max<std::int64_t>(1, monotonic_ns() - before);
    if (took < wanted / 2) continue;
    return static_cast<double>(repeats) * per_repeat * 1e9 / static_cast<double>(took);
  }
}

// A chain of exclusive ors with a number the compiler does not know: one cycle each on every core
// we know (a rotation takes two on some), and nothing that a renamer can fold as it can fold
// additions of constants.
std::uint64_t xor_chain(std::int64_t repeats) {
  std::uint64_t x = 0x9E3779B97F4A7C15u, y = 0x94D049BB133111EBu;
  __asm__ volatile("" : "+r"(y));
  for (std::int64_t i = 0; i < repeats; ++i) {
#pragma GCC unroll 64
    for (int step = 0; step < 64; ++step) {
      x ^= y;
      __asm__ volatile("" : "+r"(x));
    }
  }
  return x;
}

template <typename T>
double best_form(const PeakLoop<T> (&forms)[PeakKernels<T>::kForms], double seconds) {
  // Multiples below one and terms near zero: nothing grows, nothing becomes denormal.
  T seeds[PeakKernels<T>::kSeeds];
  std::fill(std::begin(seeds), std::end(seeds), static_cast<T>(0.5));
  alignas(64) T sink[64];
  double best = 0;
  for (const PeakLoop<T>& form : forms) {
    best = std::max(best, rate(seconds, form.per_iteration,
                               [&](std::int64_t repeats) { form.run(repeats, seeds, sink); }));
  }
  return best;
}

template <typename T>
double exp_rate(double seconds) {
  constexpr std::int64_t kSize = 1024;  // stays in the first-level cache
  const AlignedArray<T> x(kSize), y(kSize);
  for (std::int64_t i = 0; i < kSize; ++i) x[i] = static_cast<T>(-i) / 64;
  return rate(seconds, kSize, [&](std::int64_t repeats) {
    for (std::int64_t r = 0; r < repeats; ++r) peak_kernels(T{}).exp(x.data(), y.data(), kSize);
  });
}

template <typename T>
ArithmeticPeaks arithmetic(double seconds) {
  const PeakKernels<T>& kernels = peak_kernels(T{});
  return {best_form<T>(kernels.fma, seconds), best_form<T>(kernels.add_max, seconds),
          best_form<T>(kernels.sub_fma, seconds), exp_rate<T>(seconds)};
}

template <typename T>
double one_kind(PeakKind kind, double seconds) {
  const PeakKernels<T>& kernels = peak_kernels(T{});
  switch (kind) {
    case PeakKind::kFma:
      return best_form<T>(kernels.fma, seconds);
    case PeakKind::kAddMax:
      return best_form<T>(kernels.add_max, seconds);
    case PeakKind::kSubFma:
      return best_form<T>(kernels.sub_fma, seconds);
  }
  throw InternalError("a peak is one of three kinds");
}

ArithmeticPeaks better(const ArithmeticPeaks& x, const ArithmeticPeaks& y) {
  return {std::max(x.fma, y.fma), std::max(x.add_max, y.add_max), std::max(x.sub_fma, y.sub_fma),
          std::max(x.exp, y.exp)};
}

// Arrays of one thread. It fills them itself, so that the pages are near it.
struct Arrays {
  std::int64_t read_size, triad_size;
  AlignedArray<float> read, a, b, y;

  Arrays(std::int64_t read_bytes, std::int64_t triad_bytes)
      : read_size(whole(read_bytes)),
        triad_size(whole(triad_bytes)),
        read(read_size),
        a(triad_size),
        b(triad_size),
        y(triad_size) {}

  void fill() const noexcept {
    std::fill_n(read.data(), read_size, 0.0f);
    for (const auto* array : {&a, &b, &y}) std::fill_n(array->data(), triad_size, 1.0f);
  }
  // Elements, in whole steps of the loops.
  static std::int64_t whole(std::int64_t bytes) {
    return std::max<std::int64_t>(256, bytes / 4 / 256 * 256);
  }
};

double read_rate(const Arrays& arrays, std::int64_t bytes, double seconds) {
  const std::int64_t size = std::min(arrays.read_size, Arrays::whole(bytes));
  volatile float sink = 0;
  return rate(seconds, 4.0 * static_cast<double>(size), [&](std::int64_t repeats) {
    for (std::int64_t r = 0; r < repeats; ++r) {
      sink = sink + peak_kernels(float{}).read(arrays.read.data(), size);
    }
  });
}

double triad_rate(const Arrays& x, double seconds) {
  return rate(seconds, 12.0 * static_cast<double>(x.triad_size), [&](std::int64_t repeats) {
    for (std::int64_t r = 0; r < repeats; ++r) {
      peak_kernels(float{}).triad(x.a.data(), x.b.data(), x.y.data(), x.triad_size);
    }
  });
}

ArithmeticPeaks sum(const ArithmeticPeaks& x, const ArithmeticPeaks& y) {
  return {x.fma + y.fma, x.add_max + y.add_max, x.sub_fma + y.sub_fma, x.exp + y.exp};
}

// A round counts for what its threads did together; the best round counts in the end.
void add_round(const std::vector<Peaks>& turns, Peaks& total) noexcept {
  ArithmeticPeaks f32, f64;
  double triad = 0;
  for (const Peaks& turn : turns) {
    total.clock_hz = std::max(total.clock_hz, turn.clock_hz);
    f32 = sum(f32, turn.f32);
    f64 = sum(f64, turn.f64);
    triad += turn.triad_bytes_per_second;
  }
  total.f32 = better(total.f32, f32);
  total.f64 = better(total.f64, f64);
  total.triad_bytes_per_second = std::max(total.triad_bytes_per_second, triad);
  for (std::size_t i = 0; i < total.read.size(); ++i) {
    double read = 0;
    for (const Peaks& turn : turns) read += turn.read[i].bytes_per_second;
    total.read[i].bytes_per_second = std::max(total.read[i].bytes_per_second, read);
  }
}

}  // namespace

double measure_clock_hz(double seconds) {
  volatile std::uint64_t sink = 0;
  return rate(seconds, 64, [&](std::int64_t repeats) { sink = sink + xor_chain(repeats); });
}
double measure_peak(PeakKind kind, float, double seconds_per_loop) {
  return one_kind<float>(kind, seconds_per_loop);
}
double measure_peak(PeakKind kind, double, double seconds_per_loop) {
  return one_kind<double>(kind, seconds_per_loop);
}

Peaks measure_peaks(const PeakOptions& options) {
  Peaks total;
  const int threads = std::max(1, options.threads);
  const double seconds = options.seconds_per_loop;
  total.instruction_set = instruction_sets().front().name;
  std::vector<std::int64_t> sizes = options.read_bytes;
  if (sizes.empty()) sizes = {16 << 10, 256 << 10, 4 << 20, 64 << 20};
  for (const std::int64_t bytes : sizes) total.read.push_back({bytes, 0});
  const std::int64_t largest = *std::max_element(sizes.begin(), sizes.end());

  std::vector<Arrays> arrays;
  for (int t = 0; t < threads; ++t) arrays.emplace_back(largest, options.triad_bytes);
  std::vector<Peaks> turns(static_cast<std::size_t>(threads), total);
#pragma omp parallel num_threads(threads)
  {
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    Peaks& mine = turns[thread];
    arrays[thread].fill();
    for (int round = 0; round < options.rounds; ++round) {
#pragma omp barrier
      mine.clock_hz = measure_clock_hz(seconds);
#pragma omp barrier
      mine.f32 = arithmetic<float>(seconds);
#pragma omp barrier
      mine.f64 = arithmetic<double>(seconds);
      for (ReadPeak& read : mine.read) {
#pragma omp barrier
        read.bytes_per_second = read_rate(arrays[thread], read.bytes, seconds);
      }
#pragma omp barrier
      mine.triad_bytes_per_second = triad_rate(arrays[thread], seconds);
#pragma omp barrier
#pragma omp single
      {
        total.threads = omp_get_num_threads();  // what came, not what was asked for
        add_round(turns, total);
      }
    }
  }
  return total;
}

}  // namespace assay::kernels
