// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/characters.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay::models {
namespace {

bool contains(const Characters& set, char32_t c) {
  return std::ranges::any_of(set.ranges(), [c](auto r) { return r.first <= c && c <= r.last; });
}

TEST(Characters, RangesThatTouchAreOne) {
  EXPECT_EQ(Characters({{5, 6}, {1, 2}, {3, 4}}), Characters({{1, 6}}));
  EXPECT_EQ(Characters({{1, 9}, {2, 3}}), Characters({{1, 9}}));
  EXPECT_EQ(Characters({{1, 2}}) | Characters({{4, 5}}), Characters({{1, 2}, {4, 5}}));
}

TEST(Characters, TheOppositeOfTheOppositeIsTheSet) {
  EXPECT_EQ(~Characters(), Characters({{0, 0x10ffff}}));
  EXPECT_EQ(~~Characters(), Characters());
  EXPECT_EQ(~Characters({{0, 4}, {0x10ffff, 0x10ffff}}), Characters({{5, 0x10fffe}}));
  EXPECT_EQ(~~word_characters(), word_characters());
}

TEST(Characters, EveryCodePointHasOneCategory) {
  std::size_t total = 0;
  Characters all;
  for (const auto* name :
       {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe",
        "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cn"}) {
    const auto set = characters_of_category(name);
    for (const auto& range : set.ranges()) total += range.last - range.first + 1;
    all = all | set;
  }
  EXPECT_EQ(all, ~Characters());
  EXPECT_EQ(total, 0x110000u);
  EXPECT_TRUE(characters_of_category("Letter").ranges().empty());
  EXPECT_TRUE(characters_of_category("").ranges().empty());
  EXPECT_TRUE(characters_of_category("X").ranges().empty());
}

TEST(Characters, CategoriesAreThoseOfUnicode16) {
  EXPECT_TRUE(contains(characters_of_category("Lu"), 'A'));
  EXPECT_TRUE(contains(characters_of_category("L"), 0x4e00));
  EXPECT_TRUE(contains(characters_of_category("Lu"), 0x1c89));   // of Unicode 16
  EXPECT_TRUE(contains(characters_of_category("Cn"), 0x323b0));  // of Unicode 17
  EXPECT_TRUE(contains(characters_of_category("Nd"), 0x663));
  EXPECT_TRUE(contains(characters_of_category("Mn"), 0x301));
}

TEST(CharacterTest, AgreesWithTheRangesEverywhere) {
  for (const auto& set :
       {word_characters(), ~white_space(), characters_of_category("N"), Characters(), ~Characters(),
        Characters({{255, 256}, {0x10ffff, 0x10ffff}})}) {
    const CharacterTest test(set);
    auto range = set.ranges().begin();
    for (char32_t c = 0; c < 0x110000; ++c) {
      while (range != set.ranges().end() && range->last < c) ++range;
      ASSERT_EQ(test(c), range != set.ranges().end() && range->first <= c)
          << static_cast<unsigned>(c);
    }
  }
}

}  // namespace
}  // namespace assay::models
