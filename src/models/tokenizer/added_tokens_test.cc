// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/added_tokens.h"

#include <gtest/gtest.h>

#include <random>

namespace assay::models {
namespace {

AddedToken added(TokenId id, std::string content) {
  AddedToken token;
  token.id = id;
  token.content = std::move(content);
  return token;
}

std::string pieces_of(const AddedTokenFinder& finder, std::string_view text) {
  std::string pieces;
  finder.split(text, [&](std::optional<TokenId> token, std::string_view piece) {
    if (token)
      pieces += "#" + std::to_string(*token);
    else
      pieces.append("(").append(piece).append(")");
  });
  return pieces;
}

TEST(AddedTokens, LeftmostThenLongest) {
  AddedTokenFinder finder;
  EXPECT_TRUE(finder.add("ab", added(1, "ab")));
  EXPECT_TRUE(finder.add("abcd", added(2, "abcd")));
  EXPECT_TRUE(finder.add("bcd", added(3, "bcd")));
  EXPECT_FALSE(finder.add("ab", added(4, "ab")));
  EXPECT_EQ(pieces_of(finder, "xabcbcdabcdz"), "(x)#1(c)#3#2(z)");
  EXPECT_EQ(pieces_of(finder, ""), "");
  EXPECT_EQ(pieces_of(AddedTokenFinder(), "ab"), "(ab)");
}

TEST(AddedTokens, TakeWhiteSpaceAlong) {
  AddedTokenFinder finder;
  auto left = added(1, "L"), right = added(2, "R"), both = added(3, "B");
  left.left_strip = both.left_strip = right.right_strip = both.right_strip = true;
  for (const auto& token : {left, right, both}) finder.add(token.content, token);
  EXPECT_EQ(pieces_of(finder, "a  L  b"), "(a)#1(  b)");
  EXPECT_EQ(pieces_of(finder, "a  R \u3000b"), "(a  )#2(b)");
  EXPECT_EQ(pieces_of(finder, "a  B\n b"), "(a)#3(b)");
  EXPECT_EQ(pieces_of(finder, "R  L"), "#2#1");
}

TEST(AddedTokens, SingleWordsStandAlone) {
  AddedTokenFinder finder;
  auto token = added(1, "he");
  token.single_word = true;
  finder.add("he", token);
  EXPECT_EQ(pieces_of(finder, "he she he. _he é he漢 the"), "#1( she )#1(. _he é he漢 the)");
  EXPECT_EQ(pieces_of(finder, "he\u200d"), "(he\u200d)");
}

TEST(AddedTokens, AgreeWithLookingForEach) {
  std::mt19937_64 random(2);
  const std::string letters = "ab<";
  for (int round = 0; round < 50; ++round) {
    AddedTokenFinder finder;
    std::vector<std::string> contents;
    for (int i = 0; i < 6; ++i) {
      std::string content;
      for (auto n = 1 + random() % 4; n > 0; --n) content += letters[random() % letters.size()];
      if (finder.add(content, added(static_cast<TokenId>(contents.size()), content)))
        contents.push_back(content);
    }
    std::string text;
    for (int i = 0; i < 60; ++i) text += letters[random() % letters.size()];
    std::string expected, rest;
    const auto hand_rest = [&] {
      if (!rest.empty()) expected += "(" + std::exchange(rest, {}) + ")";
    };
    for (std::size_t at = 0; at < text.size();) {
      std::size_t best = contents.size();
      for (std::size_t i = 0; i < contents.size(); ++i) {
        if (text.compare(at, contents[i].size(), contents[i]) != 0) continue;
        if (best == contents.size() || contents[i].size() > contents[best].size()) best = i;
      }
      if (best == contents.size()) {
        rest += text[at++];
        continue;
      }
      hand_rest();
      expected += "#" + std::to_string(best);
      at += contents[best].size();
    }
    hand_rest();
    ASSERT_EQ(pieces_of(finder, text), expected) << text;
  }
}

}  // namespace
}  // namespace assay::models
