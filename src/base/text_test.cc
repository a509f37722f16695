// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

#include "base/philox.h"

namespace assay {
namespace {

TEST(Text, ControlCharactersAreSpelledOut) {
  EXPECT_EQ(printable("plain, ünïcode, 数"), "plain, ünïcode, 数");
  EXPECT_EQ(printable("a\nb\tc\r"), "a\\nb\\tc\\x0d");
  EXPECT_EQ(printable("\x1b[31mred\x7f"), "\\x1b[31mred\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\u009b31m"), "\\x9b31m");          // the one-character escape
  EXPECT_EQ(printable("abc\u202ecba"), "abc\\u202ecba");  // turns the reading direction
  EXPECT_EQ(printable("a\u200bb\ufeff\u2028"), "a\\u200bb\\ufeff\\u2028");
}

TEST(Text, InvalidUtf8IsReplaced) {
  EXPECT_EQ(printable("a\xff"
                      "b"),
            "a\uFFFD"
            "b");
  EXPECT_EQ(printable("\xc3"), "\uFFFD");                                // cut short
  EXPECT_EQ(printable("\xc0\xaf"), "\uFFFD\uFFFD");                      // too long a form of '/'
  EXPECT_EQ(printable("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");            // half of a pair
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // beyond the last
}

TEST(Text, WidthIsInTerminalColumns) {
  EXPECT_EQ(display_width(""), 0);
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("µs ▁█ …"), 7);
  EXPECT_EQ(display_width("数学"), 4);
  EXPECT_EQ(display_width("e\u0301"), 1);
  EXPECT_EQ(display_width("😀"), 2);
}

TEST(Text, FitCutsAtCharactersAndSaysSo) {
  EXPECT_EQ(fit("abc", 3), "abc");
  EXPECT_EQ(fit("abcd", 3), "ab…");
  EXPECT_EQ(fit("数学家", 5), "数学…");
  EXPECT_EQ(fit("数学家", 4), "数…");
  EXPECT_EQ(fit("abc", 1), "…");
  EXPECT_EQ(fit("", 1), "");
}

TEST(Text, PaddingCountsColumns) {
  EXPECT_EQ(pad_right("µ", 3), "µ  ");
  EXPECT_EQ(pad_left("数", 3), " 数");
  EXPECT_EQ(pad_left("long", 2), "long");
}

// Whatever the bytes: the result is one valid line, printable() leaves it alone, and it fits.
TEST(Text, AnyBytesBecomeOneSafeLine) {
  const Philox random(1, stream_key("text"));
  std::uint64_t next = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::string bytes;
    for (std::uint64_t i = uniform_below(random[next++], 24); i > 0; --i) {
      bytes += static_cast<char>(random[next++]);
    }
    const auto text = printable(bytes);
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(text.find_first_of("\n\r\x1b"), std::string::npos);
    for (const int width : {1, 2, 3, 10}) EXPECT_LE(display_width(fit(text, width)), width);
  }
}

}  // namespace
}  // namespace assay
