// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/utf8.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::models {
namespace {

TEST(Utf8, EveryCharacterIsReadBack) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c == 0xd800) c = 0xe000;
    std::string text;
    append_utf8(text, c);
    const auto piece = first_piece(text);
    ASSERT_EQ(piece.kind, Utf8Piece::kCharacter) << std::hex << static_cast<unsigned>(c);
    ASSERT_EQ(piece.length, text.size());
    const char* at = text.data();
    ASSERT_EQ(next_character(at), c);
    ASSERT_EQ(at, text.data() + text.size());
    ASSERT_EQ(previous_character(at), text.data());
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      const auto part = first_piece(std::string_view(text).substr(0, cut));
      ASSERT_EQ(part.kind, Utf8Piece::kUnfinished);
      ASSERT_EQ(part.length, cut);
    }
  }
}

TEST(Utf8, WhatIsNoCharacterIsSaid) {
  struct Case {
    std::string bytes;
    std::size_t length;
  };
  // Lengths as Unicode's table 3-8 ("maximal subparts") has them.
  const Case cases[] = {{"\x80", 1},
                        {"\xc0\xaf", 1},
                        {"\xc1\xbf", 1},
                        {"\xe0\x9f\xbf", 1},
                        {"\xed\xa0\x80", 1},
                        {"\xf0\x8f\xbf\xbf", 1},
                        {"\xf4\x90\x80\x80", 1},
                        {"\xf5\x80\x80\x80", 1},
                        {"\xff", 1},
                        {"\xe2\x82\x41", 2},
                        {"\xf0\x9f\x98\x41", 3},
                        {"\xc3\x41", 1}};
  for (const auto& c : cases) {
    const auto piece = first_piece(c.bytes);
    EXPECT_EQ(piece.kind, Utf8Piece::kInvalid);
    EXPECT_EQ(piece.length, c.length);
  }
}

TEST(Utf8, TheFirstInvalidByteIsFoundWhereverItStands) {
  for (std::size_t before = 0; before < 20; ++before) {
    for (const std::string& filling : {std::string("a"), std::string("\xc3\xa9")}) {
      std::string text;
      for (std::size_t i = 0; i < before; ++i) text += filling;
      const std::size_t at = text.size();
      EXPECT_EQ(valid_prefix(text), at);
      EXPECT_EQ(valid_prefix(text + "\xff" + "abcdefghij"), at);
      EXPECT_EQ(valid_prefix(text + "\xe2\x82"), at);
    }
  }
  try {
    check_utf8("ab\xff", "text");
    FAIL();
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(), "text: not UTF-8 at byte 2: 0xff");
  }
}

}  // namespace
}  // namespace assay::models
