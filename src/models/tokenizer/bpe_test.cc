// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/bpe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "models/tokenizer/word_tokens.h"

namespace assay::models {
namespace {

Vocabulary vocabulary_of(const std::vector<std::string>& texts) {
  Vocabulary vocabulary;
  for (const auto& text : texts) vocabulary.add(text, static_cast<TokenId>(vocabulary.size()));
  return vocabulary;
}

std::string spelled(const Bpe& bpe, std::string_view word) {
  std::vector<TokenId> tokens;
  Bpe::Work work;
  bpe.append(word, tokens, work);
  std::string text;
  for (const TokenId id : tokens) text.append(*bpe.vocabulary().text(id)).append("|");
  return text;
}

TEST(Bpe, UnknownCharactersAsTheOptionsSay) {
  const std::vector<std::string> texts = {"<unk>", "a", "b", "ab", "<0xC3>", "<0xA9>"};
  const std::vector<Bpe::Pair> merges = {{"a", "b"}};
  EXPECT_EQ(spelled(Bpe(vocabulary_of(texts), merges, {}, "m"), "xabyéa"), "ab|a|");
  EXPECT_EQ(spelled(Bpe(vocabulary_of(texts), merges, {.unknown = "<unk>"}, "m"), "xxabyéa"),
            "<unk>|<unk>|ab|<unk>|<unk>|a|");
  EXPECT_EQ(
      spelled(Bpe(vocabulary_of(texts), merges, {.fuse_unknown = true, .unknown = "<unk>"}, "m"),
              "xxabyéa"),
      "<unk>|ab|<unk>|a|");
  const BpeOptions fallback = {.byte_fallback = true, .fuse_unknown = true, .unknown = "<unk>"};
  EXPECT_EQ(spelled(Bpe(vocabulary_of(texts), merges, fallback, "m"), "éab"), "<0xC3>|<0xA9>|ab|");
  // The unknown token waits for the next that is known, as it does in tokenizers.
  EXPECT_EQ(spelled(Bpe(vocabulary_of(texts), merges, fallback, "m"), "xéa"),
            "<0xC3>|<0xA9>|<unk>|a|");
  EXPECT_THROW(spelled(Bpe(vocabulary_of(texts), merges, {.unknown = "?"}, "m"), "x"), UserError);
}

TEST(Bpe, WordsOfBytes) {
  // U+0120 stands for a space.
  const Bpe bpe(vocabulary_of({"a", "\u0120", "\u0120a", "b"}), {{"\u0120", "a"}},
                {.byte_level = true}, "m");
  EXPECT_EQ(spelled(bpe, " ab"), "\u0120a|b|");
  const Bpe whole(vocabulary_of({"a", "\u0120", "\u0120a"}), {},
                  {.byte_level = true, .ignore_merges = true}, "m");
  EXPECT_EQ(whole.whole(" a"), 2u);
  EXPECT_EQ(whole.whole("  "), Vocabulary::kNone);
  EXPECT_EQ(bpe.whole(" a"), Vocabulary::kNone);
}

TEST(Bpe, MergesOfWhatIsNoTokenAreNamed) {
  const auto message = [](const std::vector<Bpe::Pair>& merges) {
    try {
      const Bpe bpe(vocabulary_of({"a", "b"}), merges, {}, "f: model.merges");
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({{"a", "c"}}), "f: model.merges[0]: 'c' is not in the vocabulary");
  EXPECT_EQ(message({{"a", "b"}}), "f: model.merges[0]: 'ab' is not in the vocabulary");
  EXPECT_EQ(message({{"a", ""}}), "f: model.merges[0]: a merge with nothing");
}

// Texts are cut where no merge reaches across, and parts are remembered: with both, the tokens are
// those of the text in one piece.
TEST(Bpe, CutsAndMemoryChangeNothing) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 40; ++round) {
    const BpeOptions options = {.byte_fallback = round % 2 == 0,
                                .ignore_merges = round % 3 == 0,
                                .fuse_unknown = round % 4 < 2,
                                .unknown = "<unk>"};
    std::vector<std::string> texts = {"<unk>", "a", "b",      "é",      "漢",
                                      "_",     "<", "<0xC3>", "<0xA9>", "<0xE2>"};
    std::vector<Bpe::Pair> merges;
    // In some rounds tokens that stand for other characters are merged too.
    const std::size_t first = round % 5 == 0 ? 0 : 1, kinds = round % 7 == 0 ? 10 : 6;
    std::vector<std::string> known(texts.begin() + static_cast<std::ptrdiff_t>(first),
                                   texts.begin() + static_cast<std::ptrdiff_t>(kinds));
    for (int i = 0; i < 12; ++i) {
      const auto left = known[random() % known.size()], right = known[random() % known.size()];
      if (std::ranges::find(texts, left + right) != texts.end()) continue;
      merges.emplace_back(left, right);
      known.push_back(left + right);
      texts.push_back(left + right);
    }
    const Bpe bpe(vocabulary_of(texts), merges, options, "m");
    WordTokens words(bpe);
    const std::vector<std::string> letters = {"a", "b", "é", "漢", "_", "<", "x", "€", "ß"};
    for (int i = 0; i < 50; ++i) {
      std::string text;
      for (auto n = random() % 80; n > 0; --n) text += letters[random() % letters.size()];
      if (text.empty()) continue;
      std::vector<TokenId> cut, plain;
      words.append(text, cut);
      Bpe::Work work;
      const TokenId whole = bpe.whole(text);
      if (whole != Vocabulary::kNone)
        plain.push_back(whole);
      else
        bpe.append(text, plain, work);
      ASSERT_EQ(cut, plain) << text;
    }
  }
}

TEST(Bpe, TextsAreCutAtAll) {
  const Bpe bpe(vocabulary_of({"a", "b", "_", "_a", "ab"}), {{"_", "a"}, {"a", "b"}}, {}, "m");
  EXPECT_EQ(bpe.part("ab_ab_a"), 2u);
  EXPECT_EQ(bpe.part("_ab"), 3u);
  EXPECT_EQ(bpe.part("axb"), 3u);  // a character that is no token
  EXPECT_EQ(bpe.part(""), 0u);
}

TEST(WordTokens, ForgetsAndGoesOn) {
  const Bpe bpe(vocabulary_of({"a", "b", "c", "d", "e", "f", "g", "h", "ab"}), {{"a", "b"}},
                {.byte_level = true}, "m");
  WordTokens words(bpe);
  // More words than are remembered.
  for (std::uint32_t i = 0; i < 150'000; ++i) {
    std::string word;
    for (std::uint32_t rest = i; word.size() < 6; rest /= 8)
      word += static_cast<char>('a' + rest % 8);
    std::vector<TokenId> tokens, plain;
    words.append(word, tokens);
    if (i % 997 != 0 && i < 149'000) continue;
    Bpe::Work work;
    bpe.append(word, plain, work);
    ASSERT_EQ(tokens, plain) << word;
  }
}

}  // namespace
}  // namespace assay::models
