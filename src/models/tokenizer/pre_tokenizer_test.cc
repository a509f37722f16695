// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/pre_tokenizer.h"

#include <gtest/gtest.h>

#include "models/tokenizer/normalizer.h"

namespace assay::models {
namespace {

using Words = std::vector<std::string>;

Words words_of(const Json& json, std::string_view text) {
  const PreTokenizer splitter(JsonField(json, "f"));
  Pattern::Work work(text.size());
  Words words;
  splitter.split(text, work, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

Json split(const char* behavior, bool invert = false) {
  return {{"type", "Split"},
          {"pattern", {{"String", "-"}}},
          {"behavior", behavior},
          {"invert", invert}};
}

// The expectations of tokenizers' own documentation.
TEST(PreTokenizer, Behaviors) {
  EXPECT_EQ(words_of(split("Removed"), "the-final--countdown"),
            (Words{"the", "final", "countdown"}));
  EXPECT_EQ(words_of(split("Isolated"), "the-final--countdown"),
            (Words{"the", "-", "final", "-", "-", "countdown"}));
  EXPECT_EQ(words_of(split("MergedWithPrevious"), "the-final--countdown"),
            (Words{"the-", "final-", "-", "countdown"}));
  EXPECT_EQ(words_of(split("MergedWithNext"), "the-final--countdown"),
            (Words{"the", "-final", "-", "-countdown"}));
  EXPECT_EQ(words_of(split("Contiguous"), "the-final--countdown"),
            (Words{"the", "-", "final", "--", "countdown"}));
  EXPECT_EQ(words_of(split("Removed", true), "a-b--"), (Words{"-", "-", "-"}));
  EXPECT_EQ(words_of(split("MergedWithPrevious"), "--a-"), (Words{"-", "-", "a-"}));
  EXPECT_EQ(words_of(split("MergedWithNext"), "--a-"), (Words{"-", "-a", "-"}));
  EXPECT_EQ(words_of(split("Contiguous"), ""), Words{});
}

TEST(PreTokenizer, ByteLevelBeginsWithASpaceWhereAsked) {
  Json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}};
  EXPECT_EQ(words_of(bytes, "a b"), (Words{" a", " b"}));
  EXPECT_EQ(words_of(bytes, " a b"), (Words{" a", " b"}));
  bytes["use_regex"] = false;
  EXPECT_EQ(words_of(bytes, "a b"), Words{" a b"});
  EXPECT_TRUE(PreTokenizer(JsonField(bytes, "f")).is_byte_level());
  const Json sequence = {{"type", "Sequence"}, {"pretokenizers", {split("Isolated"), bytes}}};
  EXPECT_EQ(words_of(sequence, "a-b"), (Words{" a", " -", " b"}));
}

TEST(PreTokenizer, DigitsOneByOneOrTogether) {
  EXPECT_EQ(words_of({{"type", "Digits"}, {"individual_digits", true}}, "a12b"),
            (Words{"a", "1", "2", "b"}));
  EXPECT_EQ(words_of({{"type", "Digits"}, {"individual_digits", false}}, "a12b"),
            (Words{"a", "12", "b"}));
}

TEST(PreTokenizer, OthersAreRefusedByName) {
  const auto message = [](const Json& json) {
    try {
      PreTokenizer(JsonField(json, "f"));
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(message({{"type", "Whitespace"}}),
            "f: type: expected Split, Digits, ByteLevel or Sequence, got \"Whitespace\"");
  EXPECT_EQ(message(Json::object()), "f: 'type' is missing");
  EXPECT_EQ(message(split("Sideways")),
            "f: behavior: expected Removed, Isolated, MergedWithPrevious, MergedWithNext or "
            "Contiguous, got \"Sideways\"");
  const Json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", true}};
  EXPECT_EQ(message({{"type", "Sequence"}, {"pretokenizers", {bytes, split("Isolated")}}}),
            "f: pretokenizers[1].type: nothing may follow ByteLevel");
}

TEST(Normalizer, StepsInOrder) {
  const Json replace = {{"type", "Replace"}, {"pattern", {{"Regex", " +"}}}, {"content", "_"}};
  const Json prepend = {{"type", "Prepend"}, {"prepend", ">"}};
  const Json nfc = {{"type", "NFC"}};
  const Normalizer normalizer(
      JsonField({{"type", "Sequence"}, {"normalizers", {nfc, replace, prepend}}}, "f"));
  Pattern::Work work(100);
  EXPECT_EQ(normalizer.apply("a  e\u0301 ", work), ">a_\u00e9_");
  EXPECT_EQ(normalizer.apply("", work), "");
  EXPECT_FALSE(normalizer.is_nothing());
  EXPECT_THROW(Normalizer(JsonField({{"type", "Lowercase"}}, "f")), UserError);
}

}  // namespace
}  // namespace assay::models
