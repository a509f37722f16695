// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/resident_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <cstring>

namespace assay {
namespace {

TEST(ResidentMemory, ThePeakSeesWhatIsGoneAgain) {
  const double before = resident_bytes();
  if (std::isnan(before)) GTEST_SKIP() << "no /proc/self/status here";
  reset_peak_resident();
  constexpr std::size_t kBytes = 64 << 20;
  // Straight from the kernel and back to it: a heap may keep what is freed.
  void* memory =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, kBytes);
  ::munmap(memory, kBytes);
  EXPECT_GE(peak_resident_bytes(), before + 0.9 * kBytes);
  EXPECT_LT(resident_bytes(), peak_resident_bytes());
}

}  // namespace
}  // namespace assay
