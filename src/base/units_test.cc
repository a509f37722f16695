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
  EXPECT_EQ(format_bytes(0x1p42), "4.000 TiB");
  EXPECT_EQ(format_bytes(0x1p50), "1.000 PiB");
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
  EXPECT_EQ(parse_bytes("8.5B", "t"), 8u);
  EXPECT_EQ(parse_whole_bytes("1.5KiB", "t"), 1536u);
  EXPECT_EQ(parse_whole_bytes("0", "t"), 0u);
  // Tenths of decimal units are whole bytes, whatever doubles make of them.
  for (unsigned tenths = 1; tenths < 1000; ++tenths) {
    const auto text = fmt::format("{}.{}GB", tenths / 10, tenths % 10);
    EXPECT_EQ(parse_whole_bytes(text, "t"), tenths * std::uint64_t{100'000'000}) << text;
  }
  for (const char* bad : {"8.5B", "0.5", "1.3KiB", "0.1GiB", "100000000000000.5"}) {
    EXPECT_THROW(parse_whole_bytes(bad, "t"), UserError) << bad;
  }
}

TEST(Units, ParsesShares) {
  EXPECT_EQ(parse_share("2%", "t"), 0.02);
  EXPECT_EQ(parse_share("0.02", "t"), 0.02);
  EXPECT_EQ(parse_share("100%", "t"), 1);
  for (const char* bad : {"", "%", "2", "-1%", "101%", "2 %", "nan", "0.5x"}) {
    EXPECT_THROW(parse_share(bad, "t"), UserError) << bad;
  }
}

}  // namespace
}  // namespace assay
