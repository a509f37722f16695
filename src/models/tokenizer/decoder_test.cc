// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/decoder.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "models/tokenizer/byte_alphabet.h"
#include "models/tokenizer/normalizer.h"
#include "models/tokenizer/utf8.h"

namespace assay::models {
namespace {

using Tokens = std::vector<std::string>;

std::string with_replacements(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const auto piece = first_piece(bytes);
    text +=
        piece.kind == Utf8Piece::kCharacter ? bytes.substr(0, piece.length) : kReplacementCharacter;
    bytes.remove_prefix(piece.length);
  }
  return text;
}

std::string joined(const Tokens& tokens, const std::string& between = "") {
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) text += (i > 0 ? between : "") + tokens[i];
  return text;
}

// A step as tokenizers defines it: from a list of tokens to a list of tokens.
Tokens decoded_plainly(const DecoderStep& step, const Tokens& tokens) {
  Tokens result;
  std::string bytes;
  const auto flush = [&] {
    if (valid_prefix(bytes) == bytes.size()) {
      if (!bytes.empty()) result.push_back(bytes);
    } else {
      result.insert(result.end(), bytes.size(), std::string(kReplacementCharacter));
    }
    bytes.clear();
  };
  switch (step.kind) {
    case DecoderStep::kByteLevel:
      for (const auto& token : tokens) bytes += bytes_of_characters(token).value_or(token);
      return {with_replacements(bytes)};
    case DecoderStep::kFuse:
      return {joined(tokens)};
    case DecoderStep::kJoin:
      return {joined(tokens, " ")};
    case DecoderStep::kByteFallback:
      for (const auto& token : tokens) {
        if (token.size() == 6 && token.starts_with("<0x")) {
          bytes += static_cast<char>(std::stoul(token.substr(3, 2), nullptr, 16));
        } else {
          flush();
          result.push_back(token);
        }
      }
      flush();
      return result;
    case DecoderStep::kReplace:
    case DecoderStep::kMetaspace:
      for (const auto& token : tokens) {
        Pattern::Work work(token.size());
        const bool drops = step.drops_first && result.empty();
        result.push_back(replaced(token, *step.pattern, drops ? "" : step.content, work));
      }
      return result;
    case DecoderStep::kStrip:
      for (auto token : tokens) {
        for (std::size_t i = 0; i < step.start && token.starts_with(step.content); ++i)
          token.erase(0, step.content.size());
        for (std::size_t i = 0; i < step.stop && token.ends_with(step.content); ++i) {
          token.resize(token.size() - step.content.size());
        }
        result.push_back(token);
      }
      return result;
  }
  return result;
}

const Json kByteLevel = {{"type", "ByteLevel"}};
const Json kReplace = {{"type", "Replace"}, {"pattern", {{"String", "_"}}}, {"content", " "}};
const Json kFallback = {{"type", "ByteFallback"}};
const Json kFuse = {{"type", "Fuse"}};
const Json kStrip = {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}};
const Json kStripBoth = {{"type", "Strip"}, {"content", "a"}, {"start", 2}, {"stop", 1}};
const Json kMetaspace = {{"type", "Metaspace"}, {"replacement", "_"}, {"prepend_scheme", "always"}};
const Json kNever = {{"type", "Metaspace"}, {"replacement", "_"}, {"prepend_scheme", "never"}};

TEST(Decoder, StreamsAreWhatListsBecome) {
  const std::vector<std::vector<Json>> chains = {{kByteLevel},
                                                 {kReplace, kFallback, kFuse},
                                                 {kReplace, kFallback, kFuse, kStrip},
                                                 {kMetaspace},
                                                 {kNever, kFallback},
                                                 {kFuse, kReplace},
                                                 {kFuse, kStripBoth},
                                                 {kStripBoth},
                                                 {kByteLevel, kFuse, kStrip},
                                                 {kFuse, kByteLevel, kReplace},
                                                 {kByteLevel, kMetaspace, kStrip},
                                                 {kFallback, kFuse, kStrip, kStrip},
                                                 {kFuse, kFuse},
                                                 {kStrip, kByteLevel},
                                                 {}};
  const Tokens kinds = {"a",      "_",      "__a",    " ",   "aa",     "é",  "🙂", "<0xC3>",
                        "<0xA9>", "<0x41>", "<0xF0>", "Ã",   "©",      "Ġa", "ð",    "Ł",
                        "ĺ",      "Ĥ",      "",       " a ", "\ufffd", "a "};
  std::mt19937_64 random(4);
  for (const auto& chain : chains) {
    const Json sequence = {{"type", "Sequence"}, {"decoders", chain}};
    const auto steps = read_decoder(JsonField(sequence, "f"));
    for (int round = 0; round < 300; ++round) {
      Tokens tokens(random() % 12);
      for (auto& token : tokens) token = kinds[random() % kinds.size()];
      Tokens list = tokens;
      for (const auto& step : steps) list = decoded_plainly(step, list);
      DecoderStream stream(steps);
      std::string text;
      for (const auto& token : tokens) {
        const auto piece = stream.push(token);
        ASSERT_EQ(valid_prefix(piece), piece.size()) << "half a character";
        text += piece;
      }
      text += stream.finish();
      ASSERT_EQ(text, joined(list)) << sequence << joined(tokens, "|");
    }
  }
}

TEST(Decoder, WithoutOneTokensAreApart) {
  const auto steps = read_decoder(std::nullopt);
  DecoderStream stream(steps);
  EXPECT_EQ(stream.push("a"), "a");
  EXPECT_EQ(stream.push("b"), " b");
  EXPECT_EQ(stream.finish(), "");
}

TEST(Decoder, NothingIsKeptBackWithoutNeed) {
  const auto bytes = read_decoder(JsonField(kByteLevel, "f"));
  DecoderStream stream(bytes);
  EXPECT_EQ(stream.push("Ã"), "");  // 0xc3 begins a character
  EXPECT_EQ(stream.push("©a"), "éa");
  EXPECT_EQ(stream.push("Ã"), "");
  EXPECT_EQ(stream.finish(), "\ufffd");
  const Json llama2 = {{"type", "Sequence"}, {"decoders", {kReplace, kFallback, kFuse, kStrip}}};
  const auto steps = read_decoder(JsonField(llama2, "f"));
  DecoderStream words(steps);
  EXPECT_EQ(words.push("_a"), "a");
  EXPECT_EQ(words.push("_b"), " b");
  EXPECT_EQ(words.push("<0xC3>"), "");
  EXPECT_EQ(words.push("<0xA9>"), "");
  EXPECT_EQ(words.push("c"), "éc");
}

TEST(Decoder, OthersAreRefusedByName) {
  const auto message = [](const Json& json) {
    try {
      read_decoder(JsonField(json, "f"));
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(message({{"type", "CTC"}}),
            "f: type: expected ByteLevel, Replace, ByteFallback, Fuse, Strip, Metaspace or "
            "Sequence, got \"CTC\"");
  EXPECT_EQ(message({{"type", "Strip"}, {"content", "ab"}, {"start", 1}, {"stop", 1}}),
            "f: content: expected one character, got \"ab\"");
  EXPECT_EQ(message({{"type", "Strip"}, {"content", "a"}, {"start", -1}, {"stop", 1}}),
            "f: start: expected an integer from 0 to 1048576, got -1");
  EXPECT_EQ(message({{"type", "Metaspace"}, {"replacement", "_"}, {"prepend_scheme", "last"}}),
            "f: prepend_scheme: expected always, first or never, got \"last\"");
}

}  // namespace
}  // namespace assay::models
