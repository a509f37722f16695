// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <span>

#include "base/error.h"
#include "models/tokenizer/pattern_syntax.h"
#include "models/tokenizer/pre_tokenizer.h"
#include "models/tokenizer/utf8.h"

namespace assay::models {
namespace {

std::vector<std::string> matches_of(const std::string& regex, const std::string& text) {
  const auto pattern = Pattern::from_regex(regex, "p");
  Pattern::Work work(text.size());
  std::vector<std::string> result;
  PatternMatches matches(pattern, text, work);
  while (const auto match = matches.next()) {
    result.push_back(text.substr(match->begin, match->end - match->begin));
  }
  return result;
}

using Texts = std::vector<std::string>;

TEST(Pattern, MatchesByHand) {
  EXPECT_EQ(matches_of("a|ab", "abab"),
            (Texts{"a", "a"}));  // the first that matches, not the longest
  EXPECT_EQ(matches_of("(?:ab|a)c", "abcac"), (Texts{"abc", "ac"}));
  EXPECT_EQ(matches_of("a+?", "aaa"), (Texts{"a", "a", "a"}));
  EXPECT_EQ(matches_of("a++a", "aaa"), Texts{});
  EXPECT_EQ(matches_of("(?>a+)b", "aab"), Texts{"aab"});
  EXPECT_EQ(matches_of("(?>a|ab)c", "abc"), Texts{});
  EXPECT_EQ(matches_of("[^\\S\\n]+", " \t\n "), (Texts{" \t", " "}));
  EXPECT_EQ(matches_of("x*", "axb"), (Texts{"", "x", ""}));
  EXPECT_EQ(matches_of("\\s+(?!\\S)|\\s+", "a   b  "), (Texts{"  ", " ", "  "}));
  EXPECT_EQ(matches_of("a(?=b)", "abac"), Texts{"a"});
  EXPECT_EQ(matches_of("(?=(\\d{3})+(?!\\d))", "12345"), (Texts{""}));
  EXPECT_EQ(matches_of("\\p{N}{1,3}", "12345"), (Texts{"123", "45"}));
  EXPECT_EQ(matches_of("(?:ab){2,3}", "ababababab"), (Texts{"ababab", "abab"}));
  EXPECT_EQ(matches_of("(?:ab){1,2}?", "ababab"), (Texts{"ab", "ab", "ab"}));
  EXPECT_EQ(matches_of("(?i:'s|'LL)", "'S 's '\xc5\xbf 'll 'lL"),
            (Texts{"'S", "'s", "'\xc5\xbf", "'ll", "'lL"}));
  EXPECT_EQ(matches_of("[a\\-z]+", "a-zb"), Texts{"a-z"});
  EXPECT_EQ(matches_of("[一-龥]+", "a漢字b"), Texts{"漢字"});
  EXPECT_EQ(matches_of("\\x41\\x{1F642}\\u00e9", "A🙂é"), Texts{"A🙂é"});
  EXPECT_EQ(matches_of(".", "a\né"), (Texts{"a", "é"}));
  EXPECT_EQ(matches_of("\\P{L}|\\p{^N}", "1a"), (Texts{"1", "a"}));
  // Half is a word character by itself, and none in a class: Oniguruma's two tables.
  EXPECT_EQ(matches_of("\\w+", "a½ b"), (Texts{"a½", "b"}));
  EXPECT_EQ(matches_of("[\\w]+", "a½ b"), (Texts{"a", "b"}));
  EXPECT_EQ(matches_of("\\W", "a½ b"), (Texts{" "}));
  EXPECT_EQ(matches_of("", "é"), (Texts{"", ""}));
}

TEST(Pattern, WordsOfGpt2) {
  EXPECT_EQ(matches_of(std::string(kGpt2Words), "I'll  go, 42km\n\n now"),
            (Texts{"I", "'ll", " ", " go", ",", " 42", "km", "\n\n", " now"}));
}

TEST(Pattern, LiteralsAreFoundAsTheyAre) {
  const auto pattern = Pattern::from_literal("a.");
  Pattern::Work work(8);
  const auto match = pattern.find("aaa.a.", 0, work);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->begin, 2u);
  EXPECT_EQ(match->end, 4u);
  EXPECT_FALSE(pattern.find("ab", 0, work));
}

TEST(Pattern, WhatIsNotSupportedIsNamed) {
  for (const auto* regex : {"(?<=a)b",
                            "(?<!a)b",
                            "(?<n>a)",
                            "\\1",
                            "\\bword",
                            "^a",
                            "a$",
                            "[a[bc]]",
                            "[a&&b]",
                            "[[:alpha:]]",
                            "\\p{Han}",
                            "\\p{Letter}",
                            "\\p{L",
                            "(?i)a",
                            "(?i:é)",
                            "(?i:[a])",
                            "(?i:ss)",
                            "(?i:\\s)",
                            "(?x: a)",
                            "a**",
                            "a{2}?",
                            "a{2,3}+",
                            "a{,}",
                            "a{3,2}",
                            "a{",
                            "(a",
                            "a)",
                            "[a",
                            "[]",
                            "[z-a]",
                            "[a-\\s]",
                            "[\\s-a]",
                            "\\xff",
                            "\\x{110000}",
                            "\\ud800",
                            "\\",
                            "\\q",
                            "*a",
                            "(a*)*",
                            "(?:a?){2,}",
                            "a{1001}",
                            "(?=a)*",
                            "((((a{900}){900}){900}){900})"}) {
    try {
      Pattern::from_regex(regex, "the field");
      ADD_FAILURE() << regex;
    } catch (const UserError& e) {
      EXPECT_TRUE(std::string_view(e.what()).starts_with("the field: the pattern ")) << e.what();
    }
  }
  EXPECT_THROW(Pattern::from_regex(std::string(100000, '('), "p"), UserError);
}

TEST(Pattern, OneThatGoesBackForEverEnds) {
  const auto pattern = Pattern::from_regex("(?:a|aa)+b", "p");
  const std::string text(200, 'a');
  Pattern::Work work(text.size());
  EXPECT_THROW(pattern.find(text, 0, work), UserError);
}

TEST(Pattern, LongRunsTakeNoStackAndFewSteps) {
  const std::string text(1'000'000, ' ');
  EXPECT_EQ(matches_of("\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+", text + "x"), (Texts{text.substr(1), " "}));
  EXPECT_EQ(matches_of("(?:a|b)+", std::string(100'000, 'b')), Texts{std::string(100'000, 'b')});
}

// The meaning of a tree, by trying everything in order.
using Then = std::function<bool(std::size_t)>;
bool tried(const PatternNode& node, const std::u32string& text, std::size_t at, const Then& then);

bool tried_repeat(const PatternNode& node, const std::u32string& text, std::size_t at,
                  std::uint32_t count, const Then& then) {
  const auto more = [&] {
    return count < node.most && tried(node.parts[0], text, at, [&](std::size_t next) {
             return tried_repeat(node, text, next, count + 1, then);
           });
  };
  const auto enough = [&] { return count >= node.least && then(at); };
  return node.manner == PatternNode::kLazy ? enough() || more() : more() || enough();
}

bool tried_sequence(std::span<const PatternNode> parts, const std::u32string& text, std::size_t at,
                    const Then& then) {
  if (parts.empty()) return then(at);
  return tried(parts[0], text, at, [&](std::size_t next) {
    return tried_sequence(parts.subspan(1), text, next, then);
  });
}

bool tried(const PatternNode& node, const std::u32string& text, std::size_t at, const Then& then) {
  const auto first_end = [&](const PatternNode& part) {
    std::optional<std::size_t> end;
    tried(part, text, at, [&](std::size_t next) { return end = next, true; });
    return end;
  };
  switch (node.kind) {
    case PatternNode::kSet:
      return at < text.size() &&
             std::ranges::any_of(
                 node.set.ranges(),
                 [&](auto r) { return r.first <= text[at] && text[at] <= r.last; }) &&
             then(at + 1);
    case PatternNode::kSequence:
      return tried_sequence(node.parts, text, at, then);
    case PatternNode::kChoice:
      return std::ranges::any_of(node.parts,
                                 [&](const auto& part) { return tried(part, text, at, then); });
    case PatternNode::kRepeat:
      if (node.manner == PatternNode::kPossessive) {
        auto greedy = node;
        greedy.manner = PatternNode::kGreedy;
        const auto end = first_end(greedy);
        return end && then(*end);
      }
      return tried_repeat(node, text, at, 0, then);
    case PatternNode::kAhead:
      return first_end(node.parts[0]) && then(at);
    case PatternNode::kNotAhead:
      return !first_end(node.parts[0]) && then(at);
    case PatternNode::kAtomic: {
      const auto end = first_end(node.parts[0]);
      return end && then(*end);
    }
  }
  return false;
}

TEST(Pattern, AgreesWithThePlainMeaning) {
  const std::u32string letters = U"ab1 \nA's\u00e9\u017f\u4e00\U0001f642";
  const std::string regexes[] = {
      std::string(kGpt2Words),
      R"((?i:'s|'t|'re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
      "(?:a|b)*?1",
      "a{2,}b|(?:ab?){0,2}",
      "(?:a+b?)+(?!a)",
      "\\w+?(?=1)|\\W",
      "(?>a*)[ab]",
      "[^a]*+a",
      "(?:|a)b",
      "(?:(?:a|b){2}|1)+",
      "(?i:sk|A)+?b?",
      "\\d|\\D{2,3}?",
      "é|\\S\\s"};
  std::mt19937_64 random(5);
  for (const auto& regex : regexes) {
    const auto node = parse_pattern(regex, "p");
    const auto pattern = Pattern::from_regex(regex, "p");
    for (int round = 0; round < 300; ++round) {
      std::u32string text;
      for (auto n = random() % 12; n > 0; --n) text += letters[random() % letters.size()];
      std::string bytes;
      std::vector<std::size_t> places;  // of each character, and of the end
      for (const char32_t c : text) {
        places.push_back(bytes.size());
        append_utf8(bytes, c);
      }
      places.push_back(bytes.size());
      std::optional<PatternMatch> expected;
      for (std::size_t at = 0; at <= text.size() && !expected; ++at) {
        tried(node, text, at, [&](std::size_t end) {
          expected = PatternMatch{places[at], places[end]};
          return true;
        });
      }
      Pattern::Work work(bytes.size());
      const auto found = pattern.find(bytes, 0, work);
      ASSERT_EQ(found.has_value(), expected.has_value()) << regex << " in " << bytes;
      if (!found) continue;
      ASSERT_EQ(found->begin, expected->begin) << regex << " in " << bytes;
      ASSERT_EQ(found->end, expected->end) << regex << " in " << bytes;
    }
  }
}

}  // namespace
}  // namespace assay::models
