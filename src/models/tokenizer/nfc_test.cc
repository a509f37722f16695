// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/nfc.h"

#include <gtest/gtest.h>

#include <random>

#include "models/tokenizer/utf8.h"

namespace assay::models {
namespace {

std::string utf8(std::u32string_view characters) {
  std::string text;
  for (const char32_t c : characters) append_utf8(text, c);
  return text;
}

TEST(Nfc, ComposesAndOrders) {
  struct Case {
    std::u32string text, form;
  };
  const Case cases[] = {
      {U"", U""},
      {U"plain", U"plain"},
      {U"e\u0301", U"\u00e9"},
      {U"\u00e9", U"\u00e9"},
      {U"e\u0327\u0301", U"\u0229\u0301"},  // the cedilla is below, so first
      {U"e\u0301\u0327", U"\u0229\u0301"},  // and is put there
      {U"\u212b", U"\u00c5"},               // angstrom sign
      {U"\u0344", U"\u0308\u0301"},         // is never composed
      {U"\u0915\u093c", U"\u0915\u093c"},   // neither is this
      {U"\u0958", U"\u0915\u093c"},
      {U"\u1100\u1161\u11a8", U"\uac01"},  // Hangul
      {U"\uac00\u11a8", U"\uac01"},
      {U"\uac01\u11a8", U"\uac01\u11a8"},        // has its last part
      {U"\u1100\u1161\u11a7", U"\uac00\u11a7"},  // that is no part
      {U"\u0061\u0315\u0300\u05ae\u0062", U"\u00e0\u05ae\u0315\u0062"},
      {U"a\u05ae\u0301", U"\u00e1\u05ae"},
      {U"\u0301\u0301", U"\u0301\u0301"},
      {U"o\u0308\u0304", U"\u022b"},  // composed twice
      {U"a\u0301b\u0301", U"\u00e1b\u0301"},
      {U"\u08d3\u0301", U"\u08d3\u0301"},
      {U"a\u0301\u08d3\u0327", U"\u00e1\u08d3\u0327"},     // U+08D3 is newer: it orders nothing
      {U"\U00011935\U00011930", U"\U00011935\U00011930"},  // newer than what composes
      {U"\U0001d15e", U"\U0001d157\U0001d165"},
      {U"\U0002f800", U"\u4e3d"},
  };
  for (const auto& c : cases) EXPECT_EQ(nfc(utf8(c.text)), utf8(c.form)) << utf8(c.text);
}

// Whatever is put together, the form of the form is the form, and cutting before a letter changes
// nothing.
TEST(Nfc, IsItsOwnForm) {
  std::mt19937_64 random(11);
  const std::u32string characters =
      U"aeo\u00e9\u00c5\u0301\u0300\u0308\u0327\u0323\u0344\u05ae\u3099\u304b\u1100\u1161\u11a8"
      U"\uac00\u212b\U0001d165";
  for (int round = 0; round < 2000; ++round) {
    std::u32string text, other;
    for (std::uint64_t i = random() % 12; i > 0; --i)
      text += characters[random() % characters.size()];
    for (std::uint64_t i = random() % 12; i > 0; --i)
      other += characters[random() % characters.size()];
    const auto once = nfc(utf8(text));
    ASSERT_EQ(nfc(once), once);
    ASSERT_EQ(nfc(utf8(text + U"x" + other)), once + nfc(utf8(U"x" + other)));
  }
}

}  // namespace
}  // namespace assay::models
