// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/tokenizer.h"

#include <filesystem>

#include "base/input_file.h"
#include "models/tokenizer/tokenizer_parts.h"
#include "models/tokenizer/utf8.h"
#include "models/tokenizer/word_tokens.h"

namespace assay::models {

Tokenizer Tokenizer::from_file(const std::string& path) {
  const bool is_folder = std::filesystem::is_directory(path);
  const std::string file = is_folder ? path + "/tokenizer.json" : path;
  return from_json(read_input_file(file), file);
}

Tokenizer Tokenizer::from_json(std::string_view json, const std::string& what) {
  return Tokenizer(std::make_shared<TokenizerParts>(read_tokenizer_parts(json, what)));
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, bool add_special_tokens) const {
  return TokenEncoder(*this).encode(text, add_special_tokens);
}

std::string Tokenizer::decode(std::span<const TokenId> tokens, bool skip_special_tokens) const {
  TokenDecoder decoder(*this, skip_special_tokens);
  std::string text;
  for (const TokenId token : tokens) text += decoder.push(token);
  return text += decoder.finish();
}

std::optional<std::string_view> Tokenizer::token(TokenId id) const {
  const auto added = parts_->added.find(id);
  if (added != parts_->added.end()) return added->second.decoded;
  return parts_->bpe.vocabulary().text(id);
}

std::optional<TokenId> Tokenizer::find(std::string_view token) const {
  const auto added = parts_->added_ids.find(std::string(token));
  if (added != parts_->added_ids.end()) return added->second;
  const TokenId id = parts_->bpe.vocabulary().find(token);
  if (id == Vocabulary::kNone) return std::nullopt;
  return id;
}

bool Tokenizer::is_special(TokenId id) const {
  const auto added = parts_->added.find(id);
  return added != parts_->added.end() && added->second.special;
}

std::size_t Tokenizer::id_limit() const { return parts_->id_limit; }

struct TokenEncoder::Memory {
  WordTokens words;
};

TokenEncoder::TokenEncoder(const Tokenizer& tokenizer)
    : parts_(tokenizer.parts_), memory_(std::make_unique<Memory>(WordTokens(parts_->bpe))) {}
TokenEncoder::TokenEncoder(TokenEncoder&&) noexcept = default;
TokenEncoder::~TokenEncoder() = default;

std::vector<TokenId> TokenEncoder::encode(std::string_view text, bool add_special_tokens) {
  check_utf8(text, "text");
  std::vector<TokenId> tokens;
  tokens.reserve(text.size() / 4 + 8);
  Pattern::Work work(text.size());
  const auto use_word = [&](std::string_view word) { memory_->words.append(word, tokens); };
  const auto use_normalized = [&](std::optional<TokenId> added, std::string_view piece) {
    if (added)
      tokens.push_back(*added);
    else
      parts_->pre_tokenizer.split(piece, work, use_word);
  };
  parts_->raw.split(text, [&](std::optional<TokenId> added, std::string_view piece) {
    if (added) {
      tokens.push_back(*added);
    } else if (parts_->normalizer.is_nothing()) {
      parts_->normalized.split(piece, use_normalized);
    } else {
      parts_->normalized.split(parts_->normalizer.apply(std::string(piece), work), use_normalized);
    }
  });
  return parts_->around.apply(std::move(tokens), add_special_tokens);
}

struct TokenDecoder::State {
  DecoderStream stream;
  bool skip_special_tokens;
};

TokenDecoder::TokenDecoder(const Tokenizer& tokenizer, bool skip_special_tokens)
    : parts_(tokenizer.parts_),
      state_(std::make_unique<State>(State{DecoderStream(parts_->decoder), skip_special_tokens})) {}
TokenDecoder::TokenDecoder(TokenDecoder&&) noexcept = default;
TokenDecoder::~TokenDecoder() = default;

std::string TokenDecoder::push(TokenId token) {
  const auto added = parts_->added.find(token);
  if (added != parts_->added.end()) {
    if (added->second.skipped && state_->skip_special_tokens) return {};
    return state_->stream.push(added->second.decoded);
  }
  const auto text = parts_->bpe.vocabulary().text(token);
  return text ? state_->stream.push(*text) : std::string();
}

std::string TokenDecoder::finish() { return state_->stream.finish(); }

}  // namespace assay::models
