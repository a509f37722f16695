// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/kernel/quantity.h"

#include <gtest/gtest.h>

namespace assay::chip {
namespace {

TEST(Quantity, ReadsRatesAndTimes) {
  EXPECT_EQ(parse_bandwidth("50GiB/s", "--bandwidth"), Rate(std::int64_t{50} << 30));
  EXPECT_EQ(parse_bandwidth("25GB/s", "--bandwidth"), Rate(25'000'000'000));
  EXPECT_EQ(parse_latency("500ns", "--latency"), 500'000);
  EXPECT_EQ(parse_latency("1.5us", "--latency"), 1'500'000);
  EXPECT_EQ(parse_latency("20ps", "--latency"), 20);
  EXPECT_EQ(parse_latency("0", "--latency"), 0);
  EXPECT_EQ(parse_latency("1s", "--latency"), kSecond);
}

TEST(Quantity, RefusesTheRest) {
  for (const char* bad : {"", "50", "50GiB", "0GB/s", "-1GB/s", "GB/s", "50 GB/s", "infB/s"}) {
    EXPECT_THROW(parse_bandwidth(bad, "--bandwidth"), UserError) << bad;
  }
  for (const char* bad : {"", "5", "ns", "-5ns", "5 ns", "2s", "nanns", "1e400s", "5nsx"}) {
    EXPECT_THROW(parse_latency(bad, "--latency"), UserError) << bad;
  }
}

}  // namespace
}  // namespace assay::chip
