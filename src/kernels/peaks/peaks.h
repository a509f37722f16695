// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Measured ceilings of this machine: what kernels are compared with.
//
// A ceiling is the best of several forms of a loop over several rounds: interference and a wrong
// choice of form only ever make it smaller. Rounds of all figures are interleaved, so that a change
// of clock in the middle reaches all of them. Clocks move (with load, temperature and the width of
// instructions): a fraction of a ceiling means something if both were measured in turns.

#include <cstdint>
#include <string>
#include <vector>

namespace assay::kernels {

struct PeakOptions {
  int threads = 1;                       // at once, each with data of its own
  int rounds = 9;                        // of which the best counts
  double seconds_per_loop = 2e-3;        // of every form in every round; 0.1 s in all for a round
  std::vector<std::int64_t> read_bytes;  // for each thread; empty: 16 KiB, 256 KiB, 4 MiB, 64 MiB
  std::int64_t triad_bytes = 64 << 20;   // of each of three arrays, for each thread
};

// Per second, of all threads together.
struct ArithmeticPeaks {
  double fma = 0;      // multiply-adds: two floating-point operations each
  double add_max = 0;  // pairs of an addition and a comparison
  double sub_fma = 0;  // pairs of a subtraction and a multiply-add
  double exp = 0;      // exponentials by our own function
};

struct ReadPeak {
  std::int64_t bytes;  // how much each thread reads again and again
  double bytes_per_second;
};

struct Peaks {
  int threads = 1;
  std::string instruction_set;
  double clock_hz = 0;  // of one core, from a chain of one-cycle instructions
  ArithmeticPeaks f32, f64;
  std::vector<ReadPeak> read;
  double triad_bytes_per_second = 0;  // two arrays read, one written, counted once each
};

// Takes rounds · (about 30 loops) · seconds_per_loop, and the memory of the arrays.
Peaks measure_peaks(const PeakOptions& options = {});

// Single figures for one thread, for benchmarks that take turns. A core that is hot or shared keeps
// its full rate for a millisecond and not for ten: give the loop as long as the kernel takes that
// it is compared with.
double measure_clock_hz(double seconds);
enum class PeakKind { kFma, kAddMax, kSubFma };
double measure_peak(PeakKind kind, float, double seconds_per_loop);
double measure_peak(PeakKind kind, double, double seconds_per_loop);

}  // namespace assay::kernels
