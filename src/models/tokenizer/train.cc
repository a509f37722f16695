// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/train.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "models/tokenizer/byte_alphabet.h"
#include "models/tokenizer/nfc.h"
#include "models/tokenizer/pre_tokenizer.h"
#include "models/tokenizer/utf8.h"

namespace assay::models {
namespace {

// The models' own.
constexpr std::string_view kLlama3Words =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwenWords =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

Json pre_tokenizer_json(TrainOptions::Style style) {
  const auto words = style == TrainOptions::kLlama3 ? kLlama3Words : kQwenWords;
  const Json split = {{"type", "Split"},
                      {"pattern", {{"Regex", words}}},
                      {"behavior", "Isolated"},
                      {"invert", false}};
  const Json bytes = {{"type", "ByteLevel"},
                      {"add_prefix_space", false},
                      {"trim_offsets", true},
                      {"use_regex", false}};
  return {{"type", "Sequence"}, {"pretokenizers", {split, bytes}}};
}

std::vector<CountedWord> count_words(std::string_view text, const Json& pre_tokenizer) {
  const PreTokenizer splitter(JsonField(pre_tokenizer, "the words of a style"));
  Pattern::Work work(text.size());
  std::map<std::string, std::uint64_t, std::less<>> counts;
  splitter.split(text, work, [&](std::string_view word) {
    const auto found = counts.find(word);
    if (found != counts.end())
      ++found->second;
    else
      counts.emplace(word, 1);
  });
  std::vector<CountedWord> words;
  for (const auto& [word, count] : counts) words.push_back({word, count});
  return words;
}

// Bytes by the characters that stand for them, as tokenizers orders an alphabet.
std::string alphabet() {
  std::string bytes(256, '\0');
  std::iota(bytes.begin(), bytes.end(), '\0');
  std::ranges::sort(bytes, {},
                    [](char c) { return byte_characters()[static_cast<unsigned char>(c)]; });
  return bytes;
}

std::string as_characters(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += byte_characters()[static_cast<unsigned char>(c)];
  return text;
}

}  // namespace

std::string train_tokenizer(std::string_view text, const TrainOptions& options) {
  check_utf8(text, "the text to learn from");
  if (options.vocabulary < 256 || options.vocabulary > 1'000'000) {
    fail("a vocabulary has from 256 to 1000000 tokens, not {}", options.vocabulary);
  }
  const auto pre_tokenizer = pre_tokenizer_json(options.style);
  const bool normalizes = options.style == TrainOptions::kQwen3;
  const auto learned = learn_merges(count_words(normalizes ? nfc(text) : text, pre_tokenizer),
                                    alphabet(), options.vocabulary);
  Json vocabulary = Json::object(), merges = Json::array(), added = Json::array();
  for (const auto& token : learned.tokens) vocabulary[as_characters(token)] = vocabulary.size();
  for (const auto& [left, right] : learned.merges) {
    merges.push_back({as_characters(learned.tokens[left]), as_characters(learned.tokens[right])});
  }
  std::map<std::string, std::size_t> special;
  for (const auto& token : options.special_tokens) {
    const std::size_t id = learned.tokens.size() + special.size();
    if (token.empty() || vocabulary.contains(token) || !special.emplace(token, id).second) {
      fail("a special token is a text that no other token has, not '{}'", printable(token));
    }
    added.push_back({{"id", id},
                     {"content", token},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  Json around;
  if (options.begin) {
    const auto found = special.find(*options.begin);
    if (found == special.end())
      fail("not one of the special tokens: '{}'", printable(*options.begin));
    const Json begin = {{"SpecialToken", {{"id", *options.begin}, {"type_id", 0}}}};
    const Json again = {{"SpecialToken", {{"id", *options.begin}, {"type_id", 1}}}};
    const auto sequence = [](const char* id, int type) {
      return Json{{"Sequence", {{"id", id}, {"type_id", type}}}};
    };
    const Json token = {
        {"id", *options.begin}, {"ids", {found->second}}, {"tokens", {*options.begin}}};
    around = {{"type", "TemplateProcessing"},
              {"single", Json::array({begin, sequence("A", 0)})},
              {"pair", Json::array({begin, sequence("A", 0), again, sequence("B", 1)})},
              {"special_tokens", {{*options.begin, token}}}};
  }
  const Json model = {{"type", "BPE"},
                      {"dropout", nullptr},
                      {"unk_token", nullptr},
                      {"continuing_subword_prefix", nullptr},
                      {"end_of_word_suffix", nullptr},
                      {"fuse_unk", false},
                      {"byte_fallback", false},
                      {"ignore_merges", options.style == TrainOptions::kLlama3},
                      {"vocab", vocabulary},
                      {"merges", merges}};
  const Json decoder = {{"type", "ByteLevel"},
                        {"add_prefix_space", true},
                        {"trim_offsets", true},
                        {"use_regex", true}};
  return pretty_json({{"version", "1.0"},
                      {"truncation", nullptr},
                      {"padding", nullptr},
                      {"added_tokens", added},
                      {"normalizer", normalizes ? Json{{"type", "NFC"}} : Json()},
                      {"pre_tokenizer", pre_tokenizer},
                      {"post_processor", around},
                      {"decoder", decoder},
                      {"model", model}}) +
         "\n";
}

}  // namespace assay::models
