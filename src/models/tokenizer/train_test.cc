// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/train.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "base/json.h"
#include "models/tokenizer/tokenizer.h"

namespace assay::models {
namespace {

std::string every_byte() {
  std::string bytes(256, '\0');
  std::iota(bytes.begin(), bytes.end(), '\0');
  return bytes;
}

// The example of the paper that brought BPE to words (Sennrich et al., 2016), with one end of word.
TEST(LearnMerges, ByHand) {
  const std::vector<CountedWord> words = {
      {"low.", 5}, {"lower.", 2}, {"newest.", 6}, {"widest.", 3}};
  const auto learned = learn_merges(words, every_byte(), 256 + 6);
  std::vector<std::string> texts(learned.tokens.begin() + 256, learned.tokens.end());
  // Of pairs that are equally frequent, the one of the lesser ids: (e, s) before (s, t) before (t,
  // .).
  EXPECT_THAT(texts, testing::ElementsAre("es", "t.", "est.", "lo", "low", "ew"));
}

TEST(LearnMerges, OverlapsAndSameTextTwice) {
  // "aaa" is merged from the left; what is left over is no pair.
  const auto learned = learn_merges({{"aaaa", 3}, {"aaa", 1}}, every_byte(), 300);
  std::vector<std::string> texts(learned.tokens.begin() + 256, learned.tokens.end());
  EXPECT_THAT(texts, testing::ElementsAre("aa", "aaaa", "aaa"));
  EXPECT_EQ(learned.merges.size(), 3u);
  EXPECT_EQ(learn_merges({}, every_byte(), 300).tokens.size(), 256u);
}

TEST(Train, OurOwnTextMakesATokenizer) {
  for (const auto style : {TrainOptions::kLlama3, TrainOptions::kQwen3}) {
    TrainOptions options;
    options.style = style;
    options.vocabulary = 1000;
    options.special_tokens = {"<|begin|>", "<|end|>"};
    options.begin = "<|begin|>";
    const auto content = train_tokenizer(kTrainingText, options);
    EXPECT_EQ(train_tokenizer(kTrainingText, options), content);
    const auto tokenizer = Tokenizer::from_json(content, "trained");
    EXPECT_EQ(tokenizer.id_limit(), 1002u);
    EXPECT_EQ(tokenizer.find("<|end|>"), 1001u);
    const auto ids = tokenizer.encode(kTrainingText);
    EXPECT_EQ(ids.front(), 1000u);
    EXPECT_LT(ids.size(), kTrainingText.size() / 2);
    EXPECT_EQ(tokenizer.decode(ids), kTrainingText);
    std::string every;  // the first of every plane, and control characters
    for (int c = 0; c < 128; ++c) every += static_cast<char>(c);
    every += "\u0080\u07ff\u0800\uffff\U00010000\U0010ffff";
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(every)), every);
  }
}

TEST(Train, OptionsThatCannotBeMetAreNamed) {
  const auto message = [](std::string_view text, const TrainOptions& options) {
    try {
      train_tokenizer(text, options);
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(message("a", {.vocabulary = 255}),
            "a vocabulary has from 256 to 1000000 tokens, not 255");
  EXPECT_EQ(message("a\xff", {}), "the text to learn from: not UTF-8 at byte 1: 0xff");
  EXPECT_EQ(message("a", {.begin = "<s>"}), "not one of the special tokens: '<s>'");
  EXPECT_EQ(message("a", {.special_tokens = {"a"}}),
            "a special token is a text that no other token has, not 'a'");
  EXPECT_EQ(message("a", {.special_tokens = {"<s>", "<s>"}}),
            "a special token is a text that no other token has, not '<s>'");
}

}  // namespace
}  // namespace assay::models
