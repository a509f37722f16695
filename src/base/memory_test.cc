// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <new>

namespace assay {
namespace {

TEST(Memory, IsAlignedAndUsableToItsLastByte) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{65}, (std::size_t{2} << 20) - 1,
        std::size_t{2} << 20, (std::size_t{5} << 20) + 7}) {
    const auto block = aligned_block<char>(bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.get()) % 64, 0u) << bytes;
    std::memset(block.get(), 7, bytes);
  }
}

TEST(Memory, WhatIsNotThereIsBadAlloc) {
#ifndef ASSAY_SANITIZED  // which would stop the program instead
  EXPECT_THROW(allocate_aligned(std::size_t{1} << 60), std::bad_alloc);
#endif
  free_aligned(nullptr, 0);
}

}  // namespace
}  // namespace assay
