// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "models/tokenizer/utf8.h"

namespace assay::models {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// "hug" and friends, with a space as Ġ; two special tokens and one that is none.
Json small_file() {
  return Json::parse(R"({
    "version": "1.0", "truncation": null, "padding": null,
    "added_tokens": [
      {"id": 9, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
      {"id": 10, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": true, "normalized": false, "special": true},
      {"id": 11, "content": "tool", "single_word": true, "lstrip": false, "rstrip": false, "normalized": true, "special": false}],
    "normalizer": {"type": "NFC"},
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
      "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
      "special_tokens": {"<s>": {"id": "<s>", "ids": [9], "tokens": ["<s>"]}}},
    "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
    "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
      "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
      "vocab": {"h": 0, "u": 1, "g": 2, "Ġ": 3, "hu": 4, "hug": 5, "Ġhug": 6, "Ã": 7, "©": 8},
      "merges": [["h", "u"], ["hu", "g"], ["Ġ", "hug"]]}})");
}

Tokenizer small() { return Tokenizer::from_json(small_file().dump(), "small"); }

TEST(Tokenizer, EncodesAndDecodes) {
  const auto tokenizer = small();
  EXPECT_THAT(tokenizer.encode("hug hug ug"), ElementsAre(9, 5, 6, 3, 1, 2));
  EXPECT_THAT(tokenizer.encode("hug", false), ElementsAre(5));
  EXPECT_THAT(tokenizer.encode(""), ElementsAre(9));
  EXPECT_THAT(tokenizer.encode("hug</s>  hug<s>", false), ElementsAre(5, 10, 5, 9));
  EXPECT_THAT(tokenizer.encode("tool hugtool", false),
              ElementsAre(11, 6));  // t, o and l are no tokens
  EXPECT_THAT(tokenizer.encode("e\u0301", false), ElementsAre(7, 8));
  const std::vector<TokenId> ids = {9, 5, 6, 7, 8, 10, 11};
  EXPECT_EQ(tokenizer.decode(ids), "hug hugétool");
  EXPECT_EQ(tokenizer.decode(ids, false), "<s>hug hugé</s>tool");
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{7, 7}), "\ufffd\ufffd");
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{5, 4711}), "hug");
}

TEST(Tokenizer, KnowsItsTokens) {
  const auto tokenizer = small();
  EXPECT_EQ(tokenizer.id_limit(), 12u);
  EXPECT_EQ(tokenizer.token(6), "Ġhug");
  EXPECT_EQ(tokenizer.token(9), "<s>");
  EXPECT_EQ(tokenizer.token(12), std::nullopt);
  EXPECT_EQ(tokenizer.find("hug"), 5u);
  EXPECT_EQ(tokenizer.find("</s>"), 10u);
  EXPECT_EQ(tokenizer.find("hugs"), std::nullopt);
  EXPECT_TRUE(tokenizer.is_special(9));
  EXPECT_FALSE(tokenizer.is_special(11));
  EXPECT_FALSE(tokenizer.is_special(5));
}

TEST(Tokenizer, BothFormsOfMergesAreOne) {
  auto json = small_file();
  json["model"]["merges"] = {"h u", "hu g", "Ġ hug"};
  EXPECT_THAT(Tokenizer::from_json(json.dump(), "t").encode(" hug", false), ElementsAre(6));
}

TEST(Tokenizer, StreamsNoHalfCharacters) {
  const auto tokenizer = small();
  TokenDecoder decoder(tokenizer);
  EXPECT_EQ(decoder.push(5), "hug");
  EXPECT_EQ(decoder.push(7), "");
  EXPECT_EQ(decoder.push(9), "");
  EXPECT_EQ(decoder.push(8), "é");
  EXPECT_EQ(decoder.push(7), "");
  EXPECT_EQ(decoder.finish(), "\ufffd");
}

TEST(Tokenizer, AnEncoderRemembersNothingThatMatters) {
  const auto tokenizer = small();
  TokenEncoder encoder(tokenizer);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(encoder.encode("hug hug"), ElementsAre(9, 5, 6));
    EXPECT_THAT(encoder.encode(" hug", false), ElementsAre(6));
  }
}

std::string error_of(const std::string& content) {
  try {
    Tokenizer::from_json(content, "t.json");
  } catch (const UserError& e) {
    return e.what();
  }
  return "nothing";
}

TEST(Tokenizer, TextThatIsNotUtf8IsRefused) {
  try {
    small().encode("hug\xffhug");
    FAIL();
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(), "text: not UTF-8 at byte 3: 0xff");
  }
}

TEST(Tokenizer, WhatIsWrongWithAFileIsNamed) {
  struct Case {
    const char* pointer;
    Json value;
    const char* error;
  };
  const Case cases[] = {
      {"/version", "2.0", "t.json: version: expected \"1.0\", got \"2.0\""},
      {"/truncation",
       {{"max_length", 5}},
       "t.json: truncation: this is not supported: expected null"},
      {"/model", 5, "t.json: model: expected an object, got 5"},
      {"/model", nullptr, "t.json: 'model' is missing"},
      {"/model/type", "Unigram", "t.json: model.type: expected BPE, got \"Unigram\""},
      {"/model/dropout", 0.1,
       "t.json: model.dropout: expected nothing: this is not supported, got 0.1"},
      {"/model/end_of_word_suffix", "</w>",
       "t.json: model.end_of_word_suffix: expected nothing: this is not supported, got \"</w>\""},
      {"/model/byte_fallback", "yes",
       "t.json: model.byte_fallback: expected true or false, got \"yes\""},
      {"/model/vocab", Json::array(), "t.json: model.vocab: expected an object, got array"},
      {"/model/vocab/h", 1, "t.json: model.vocab: the id of 'u' is that of 'h' too: 1"},
      {"/model/vocab/h", -1, "t.json: model.vocab: the id of 'h' is not from 0 to 65572: -1"},
      {"/model/vocab/h", 4000000000,
       "t.json: model.vocab: the id of 'h' is not from 0 to 65572: 4000000000"},
      {"/model/vocab/h", "0", "t.json: model.vocab: the id of 'h' is not from 0 to 65572: \"0\""},
      {"/model/merges", "h u", "t.json: model.merges: expected an array, got \"h u\""},
      {"/model/merges/1", "h u g",
       "t.json: model.merges: [1]: expected \"a b\" or [\"a\", \"b\"], got \"h u g\""},
      {"/model/merges/1", 7,
       "t.json: model.merges: [1]: expected \"a b\" or [\"a\", \"b\"], got 7"},
      {"/model/merges/1", {"x", "y"}, "t.json: model.merges[1]: 'x' is not in the vocabulary"},
      {"/added_tokens/0/id", 5, "t.json: added_tokens[0].id: the id of '<s>' is 9, not 5"},
      {"/added_tokens/0/content", "", "t.json: added_tokens[0].content: a token of nothing"},
      {"/added_tokens/1/content", "<s>",
       "t.json: added_tokens[1].content: a second token of that text: '<s>'"},
      {"/added_tokens/0/special", 1,
       "t.json: added_tokens[0].special: expected true or false, got 1"},
      {"/added_tokens", {{"<s>", 1}}, "t.json: added_tokens: expected an array, got object"},
      {"/normalizer/type", "NFKC",
       "t.json: normalizer.type: expected NFC, Replace, Prepend or Sequence, got \"NFKC\""},
      {"/post_processor/type", "BertProcessing",
       "t.json: post_processor.type: expected TemplateProcessing, ByteLevel or Sequence, got "
       "\"BertProcessing\""},
      {"/post_processor/special_tokens/<s>/ids/0", 12,
       "t.json: post_processor.special_tokens.<s>.ids[0]: expected an integer from 0 to 11, "
       "got 12"},
      {"/post_processor/single/0/SpecialToken/id", "<q>",
       "t.json: post_processor.special_tokens: '<q>' is missing"},
      {"/post_processor/single/1/Sequence/id", "B",
       "t.json: post_processor.single[1].Sequence.id: expected A, got \"B\""},
  };
  for (const auto& c : cases) {
    auto json = small_file();
    json[Json::json_pointer(c.pointer)] = c.value;
    EXPECT_EQ(error_of(json.dump()), c.error) << c.pointer;
  }
  EXPECT_THAT(error_of("[]"), StartsWith("t.json: expected an object"));
}

// Files that somebody cut, changed or made up: one line each, or a tokenizer that works.
TEST(Tokenizer, HostileFilesEndInOneLine) {
  const std::string whole = small_file().dump();
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    EXPECT_THAT(error_of(whole.substr(0, size)), StartsWith("t.json: ")) << size;
  }
  std::mt19937_64 random(6);
  std::string bytes = "0\"[]{},:-9enulltrue\xff ";
  bytes += '\0';
  for (int round = 0; round < 3000; ++round) {
    auto changed = whole;
    for (auto n = 1 + random() % 3; n > 0; --n)
      changed[random() % changed.size()] = bytes[random() % bytes.size()];
    const auto error = error_of(changed);
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    if (error == "nothing") Tokenizer::from_json(changed, "t").encode("hug hug</s> tool");
  }
  const std::string deep = R"({"model": )" + std::string(10'000'000, '[');
  EXPECT_THAT(error_of(deep), StartsWith("t.json: "));
  EXPECT_THAT(error_of(R"({"model": {"vocab": {"a": 0, "a": 1}}})"), HasSubstr("t.json"));
}

// What is small in a file and large in memory, or long in time.
TEST(Tokenizer, FilesThatGrowAreRefused) {
  const auto with = [](const char* pointer, const Json& value) {
    auto json = small_file();
    json[Json::json_pointer(pointer)] = value;
    return json.dump();
  };
  const Json digits = {{"type", "Digits"}, {"individual_digits", true}};
  EXPECT_EQ(error_of(with("/pre_tokenizer",
                          {{"type", "Sequence"}, {"pretokenizers", Json(100, digits)}})),
            "t.json: pre_tokenizer.pretokenizers[64]: too many steps");
  const Json nfc = {{"type", "NFC"}};
  EXPECT_EQ(error_of(with("/normalizer", {{"type", "Sequence"}, {"normalizers", Json(100, nfc)}})),
            "t.json: normalizer.normalizers[64]: too many steps");
  const Json fuse = {{"type", "Fuse"}};
  EXPECT_EQ(error_of(with("/decoder", {{"type", "Sequence"}, {"decoders", Json(100, fuse)}})),
            "t.json: decoder.decoders[64]: too many steps");
  const auto regex = [](const std::string& text) {
    return Json{{"type", "Replace"}, {"pattern", {{"Regex", text}}}, {"content", ""}};
  };
  EXPECT_EQ(error_of(with("/normalizer", regex(std::string(100000, 'a')))),
            "t.json: normalizer.pattern.Regex: the pattern has 100000 bytes; 65536 is the most");
  std::string classes;
  for (char32_t c = 0x4e00; c < 0x5200; ++c) append_utf8(classes, c);
  EXPECT_EQ(error_of(with("/normalizer", regex(classes))),
            "t.json: normalizer.pattern.Regex: the pattern has too many classes");
  auto doubling = small_file();
  const Json twice = {{"type", "Replace"}, {"pattern", {{"String", "h"}}}, {"content", "hh"}};
  doubling["normalizer"] = {{"type", "Sequence"}, {"normalizers", Json(60, twice)}};
  EXPECT_THROW(Tokenizer::from_json(doubling.dump(), "t").encode("h"), UserError);
  auto added = small_file();
  added["added_tokens"][0]["content"] = std::string(2000, 'x');
  EXPECT_EQ(error_of(added.dump()),
            "t.json: added_tokens[0].content: a token of 2000 bytes; 1024 is the most");
}

TEST(Tokenizer, FilesAndFolders) {
  const TemporaryDirectory folder;
  try {
    Tokenizer::from_file(folder.path());
    FAIL();
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(), HasSubstr(folder.path() + "/tokenizer.json"));
  }
  write_file_atomically(folder.path() + "/tokenizer.json", small_file().dump());
  EXPECT_THAT(Tokenizer::from_file(folder.path()).encode("hug"), ElementsAre(9, 5));
  EXPECT_THAT(Tokenizer::from_file(folder.path() + "/tokenizer.json").encode("hug"),
              ElementsAre(9, 5));
}

}  // namespace
}  // namespace assay::models
