// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/peaks/peaks.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::kernels {
namespace {

// What a rate is depends on the machine and on who else uses it: here only that all are there, and
// in the relations that hold on any machine.
TEST(Peaks, MeasuresEveryFigure) {
  for (const int threads : {1, 2}) {
    const Peaks peaks = measure_peaks({.threads = threads,
                                       .rounds = 2,
                                       .seconds_per_loop = 1e-4,
                                       .read_bytes = {8 << 10, 1 << 20},
                                       .triad_bytes = 1 << 20});
    EXPECT_EQ(peaks.threads, threads);
    EXPECT_FALSE(peaks.instruction_set.empty());
    EXPECT_GT(peaks.clock_hz, 1e6);
    EXPECT_LT(peaks.clock_hz, 2e10);
    for (const ArithmeticPeaks& a : {peaks.f32, peaks.f64}) {
      for (const double rate : {a.fma, a.add_max, a.sub_fma, a.exp}) {
        EXPECT_TRUE(std::isfinite(rate));
        EXPECT_GT(rate, 1e5);
      }
    }
    ASSERT_EQ(peaks.read.size(), 2u);
    EXPECT_EQ(peaks.read[0].bytes, 8 << 10);
    EXPECT_GT(peaks.read[0].bytes_per_second, 1e6);
    EXPECT_GT(peaks.triad_bytes_per_second, 1e6);
  }
}

}  // namespace
}  // namespace assay::kernels
