// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Text to tokens and back, as the `tokenizer.json` beside a model's weights says, in agreement with
// PyPI's tokenizers for what is supported: byte-level BPE (GPT-2, Llama 3, Qwen) and BPE with byte
// fallback (Gemma). What a file asks for beyond that is refused by name when it is read.
//
//   raw text ─ added tokens ─ normalised ─ added tokens ─ words ─ merges ─ special tokens around it

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/tokenizer/vocabulary.h"

namespace assay::models {

struct TokenizerParts;

class Tokenizer {
 public:
  // Reads a file; `path` may be the folder in which a tokenizer.json lies. Throws UserError, one
  // line that names the file, the field and what is wrong with it.
  static Tokenizer from_file(const std::string& path);
  // The same of a file's content, which errors call `what`.
  static Tokenizer from_json(std::string_view json, const std::string& what);

  // The tokens of a text. Special tokens in the text are found in any case; `add_special_tokens` is
  // about those that the file puts around every text (<|begin_of_text|>). Throws UserError where
  // the text is not UTF-8, with the byte's offset. To encode many texts, keep a TokenEncoder.
  std::vector<TokenId> encode(std::string_view text, bool add_special_tokens = true) const;

  // The text of tokens, valid UTF-8. Ids that no token has are passed over: models have
  // more of them than their tokenizers. To decode as tokens come, keep a TokenDecoder.
  std::string decode(std::span<const TokenId> tokens, bool skip_special_tokens = true) const;

  // The text by which the file knows a token; nothing where no token has this id.
  std::optional<std::string_view> token(TokenId id) const;
  std::optional<TokenId> find(std::string_view token) const;
  bool is_special(TokenId id) const;
  // One more than the greatest id.
  std::size_t id_limit() const;

 private:
  friend class TokenEncoder;
  friend class TokenDecoder;
  explicit Tokenizer(std::shared_ptr<const TokenizerParts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const TokenizerParts> parts_;
};

// Encodes texts one after the other, and remembers the words that it has seen. For one thread.
class TokenEncoder {
 public:
  explicit TokenEncoder(const Tokenizer& tokenizer);
  TokenEncoder(TokenEncoder&&) noexcept;
  ~TokenEncoder();
  std::vector<TokenId> encode(std::string_view text, bool add_special_tokens = true);

 private:
  struct Memory;
  std::shared_ptr<const TokenizerParts> parts_;
  std::unique_ptr<Memory> memory_;
};

// Decodes tokens as they come. What push() and at last finish() return is, put together, what
// Tokenizer::decode() returns, and every piece by itself is valid UTF-8.
class TokenDecoder {
 public:
  explicit TokenDecoder(const Tokenizer& tokenizer, bool skip_special_tokens = true);
  TokenDecoder(TokenDecoder&&) noexcept;
  ~TokenDecoder();
  std::string push(TokenId token);
  std::string finish();

 private:
  struct State;
  std::shared_ptr<const TokenizerParts> parts_;
  std::unique_ptr<State> state_;
};

}  // namespace assay::models
