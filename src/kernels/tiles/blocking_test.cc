// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/tiles/blocking.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay::kernels {
namespace {

constexpr std::int64_t kMany = std::numeric_limits<std::int64_t>::max();

TEST(Blocking, FitsTheCachesItIsGiven) {
  // 12 floats a term: 24 KiB, half of L1, hold 512 of them; 512 KiB, a quarter of L2, hold 8 panels
  // of 32 columns and as many terms.
  const Blocking b =
      blocking_for({.l1 = 48 << 10, .l2 = 2 << 20}, 1024, 1024, 1024, 4, 12, 32, kMany);
  EXPECT_EQ(b.terms, 512);
  EXPECT_EQ(b.right_panels, 8);
  EXPECT_EQ(b.rows, 1024);
  EXPECT_EQ(b.columns, 1024);
  // Doubles: a panel of 512 terms would be all of L1, and the right panels pass through it too.
  EXPECT_EQ(blocking_for({.l1 = 48 << 10, .l2 = 2 << 20}, 1024, 1024, 1024, 8, 12, 16, kMany).terms,
            256);
}

TEST(Blocking, IsPositiveWhateverItIsGiven) {
  for (const CacheSizes& caches : {CacheSizes{}, CacheSizes{1, 1}, CacheSizes{1 << 30, 1 << 30}}) {
    for (const std::int64_t k : {1, 2, 31, 100, 1 << 20}) {
      for (const std::int64_t most : {std::int64_t{1}, std::int64_t{7}, kMany}) {
        const Blocking b = blocking_for(caches, 1, k, 1 << 20, 8, 12, 64, most);
        EXPECT_GE(b.terms, 1);
        EXPECT_LE(b.terms, std::min(k, most));
        EXPECT_GE(b.right_panels, 1);
        EXPECT_EQ(b.rows, 1);
        EXPECT_GE(b.columns, 1);
        // 16 MiB of one factor, or one panel.
        EXPECT_LE(b.columns * b.terms * 8, std::max<std::int64_t>(16 << 20, 64 * b.terms * 8));
      }
    }
  }
}

TEST(Blocking, CertifiedSumsKeepTheirRoundings) {
  // What log_product demands, for every k that could be asked: at most 8·√k + 8 roundings.
  for (std::int64_t k = 1; k < (std::int64_t{1} << 40); k += 1 + k / 7) {
    const double roundings = 8 * std::sqrt(static_cast<double>(k)) + 8;
    const std::int64_t most = terms_for_roundings(k, roundings, k);
    for (const CacheSizes& caches :
         {CacheSizes{}, CacheSizes{64 << 10, 1 << 20}, CacheSizes{1, 1}}) {
      const std::int64_t terms = blocking_for(caches, 100, k, 100, 4, 12, 32, most).terms;
      EXPECT_LE(static_cast<double>(terms + (k + terms - 1) / terms), roundings) << k;
    }
  }
  EXPECT_EQ(terms_for_roundings(1024, 260, 1024), 256);
  EXPECT_EQ(terms_for_roundings(1024, 260, 100), 100);
  EXPECT_EQ(terms_for_roundings(1024, 1, 1024), 32);  // the fewest there are
  EXPECT_EQ(terms_for_roundings(1, 1, 1), 1);
}

TEST(Blocking, SharesCoverEverythingOnce) {
  for (const std::int64_t size : {0, 1, 7, 64, 1001}) {
    for (const int count : {1, 2, 3, 64}) {
      std::int64_t next = 0;
      for (int i = 0; i < count; ++i) {
        const Range range = share(size, i, count);
        EXPECT_EQ(range.begin, next);
        EXPECT_GE(range.end, range.begin);
        EXPECT_LE(range.end - range.begin, size / count + 1);
        next = range.end;
      }
      EXPECT_EQ(next, size);
    }
  }
}

TEST(Blocking, ThreadsShareTheGridEvenly) {
  const ThreadGrid tall = thread_grid(4, 1000, 3);  // 250 × 3 tiles each; 500 × 2 would be more
  EXPECT_EQ(tall.left * tall.right, 4);
  EXPECT_EQ(tall.right, 1);
  const ThreadGrid wide = thread_grid(4, 1, 1000);
  EXPECT_EQ(wide.right, 4);
  // 86 × 32 panels for 8 threads: 43 × 8 tiles each, or 22 × 16; never 11 × 32.
  const ThreadGrid square = thread_grid(8, 86, 32);
  EXPECT_LE((86 + square.left - 1) / square.left * ((32 + square.right - 1) / square.right), 352);
}

TEST(Blocking, ThreadsDoNotAllReadOneFactor) {
  // 171 × 4 tiles each would be four fewer than 43 × 16, and four times the left panels to fetch.
  const ThreadGrid grid = thread_grid(16, 171, 64);
  EXPECT_EQ(grid.left, 4);
  EXPECT_EQ(grid.right, 4);
}

}  // namespace
}  // namespace assay::kernels
