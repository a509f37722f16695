// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace assay {
namespace {

TEST(Units, FormatsForPeople) {
  EXPECT_EQ(format_seconds(1.23456e-3), "1.235 ms");
  EXPECT_EQ(format_seconds(56.7e-6), "56.70 µs");
  EXPECT_EQ(format_seconds(12), "12.00 s");
  EXPECT_EQ(format_seconds(0), "0.000 ns");
  EXPECT_EQ(format_seconds(0.99999), "1.000 s");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1536), "1.500 KiB");
  EXPECT_EQ(format_rate(8.31e10, "flop/s"), "83.10 Gflop/s");
}

TEST(Units, ReadsWhatPeopleType) {
  EXPECT_EQ(parse_duration_s("10m", "--budget"), 600);
  EXPECT_EQ(parse_duration_s("250ms", "t"), 0.25);
  EXPECT_EQ(parse_duration_s("3", "t"), 3);
  EXPECT_EQ(parse_bytes("64MiB", "t"), 64u << 20);
  EXPECT_EQ(parse_bytes("2GB", "t"), 2'000'000'000u);
  for (const char* bad : {"", "m", "-1s", "1 s", "nan", "inf", "1e400s", "10 parsecs", "1e12s"}) {
    EXPECT_THROW(parse_duration_s(bad, "t"), UserError) << bad;
  }
  EXPECT_THROW(parse_bytes("1e30", "t"), UserError);
}

}  // namespace
}  // namespace assay
