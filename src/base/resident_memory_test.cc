// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/resident_memory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace assay {
namespace {

TEST(ResidentMemory, ThePeakSeesWhatIsGoneAgain) {
  const double before = resident_bytes();
  if (std::isnan(before)) GTEST_SKIP() << "no /proc/self/status here";
  reset_peak_resident();
  constexpr std::size_t kBytes = 64 << 20;
  { std::vector<char> touched(kBytes, 1); }
  EXPECT_GE(peak_resident_bytes(), before + 0.9 * kBytes);
  EXPECT_LT(resident_bytes(), peak_resident_bytes());
}

}  // namespace
}  // namespace assay
