// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <iostream>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/input_file.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/engines/llm.h"
#include "models/tokenizer/tokenizer.h"
#include "models/tokenizer/train.h"

namespace assay::cli {
namespace {

using models::TokenId;

std::string standard_input() {
  std::string text;
  char buffer[1 << 16];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, stdin))
    text.append(buffer, count);
  if (std::ferror(stdin) != 0) fail("cannot read standard input");
  return text;
}

// "72 101", "72,101".
std::vector<TokenId> ids_from(const std::string& text) {
  std::vector<TokenId> ids;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (*at == ' ' || *at == ',' || *at == '\n') {
      ++at;
      continue;
    }
    TokenId id = 0;
    const auto [behind, error] = std::from_chars(at, end, id);
    if (error != std::errc())
      fail("--decode: expected ids of tokens, got '{}'", std::string(at, end));
    ids.push_back(id);
    at = behind;
  }
  return ids;
}

std::string decoded(const models::Tokenizer& tokenizer, const std::vector<TokenId>& ids,
                    bool no_special) {
  for (const TokenId id : ids) {
    if (!tokenizer.token(id)) fail("no token has the id {}", id);
  }
  return tokenizer.decode(ids, no_special);
}

Json tokens_json(const models::Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  Json tokens = Json::array();
  for (const TokenId id : ids) tokens.push_back(*tokenizer.token(id));
  return {{"count", ids.size()}, {"ids", ids}, {"tokens", tokens}};
}

int tokenize_lines(const models::Tokenizer& tokenizer, const LlmArguments& a) {
  models::TokenEncoder encoder(tokenizer);
  std::string line;
  for (std::size_t number = 1; std::getline(std::cin, line); ++number) {
    const auto what = fmt::format("line {}", number);
    const auto value = parse_json(line, what);
    if (value.is_string()) {
      const auto ids = encoder.encode(value.get_ref<const std::string&>(), !a.no_special);
      fmt::print("{}\n", canonical_json(a.json ? tokens_json(tokenizer, ids) : Json(ids)));
      continue;
    }
    std::vector<TokenId> ids;
    for (const auto& id : value.is_array() ? value : Json::array({value})) {
      if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= tokenizer.id_limit()) {
        fail("{}: expected a text, or ids below {}, got {}", what, tokenizer.id_limit(),
             canonical_json(id));
      }
      ids.push_back(id.get<TokenId>());
    }
    fmt::print("{}\n", canonical_json(decoded(tokenizer, ids, a.no_special)));
  }
  return kFine;
}

}  // namespace

int tokenize(const LlmArguments& a) {
  const auto tokenizer = models::Tokenizer::from_file(a.model);
  if (a.lines) return tokenize_lines(tokenizer, a);
  if (a.decode) {
    const auto ids = ids_from(*a.decode);
    const auto text = decoded(tokenizer, ids, a.no_special);
    if (a.json) {
      fmt::print("{}\n", pretty_json({{"ids", ids}, {"text", text}}));
    } else {
      fmt::print("{}\n", text);
    }
    return kFine;
  }
  const auto ids = tokenizer.encode(a.text ? *a.text : standard_input(), !a.no_special);
  if (a.json) {
    fmt::print("{}\n", pretty_json(tokens_json(tokenizer, ids)));
  } else {
    fmt::print("{}\n", fmt::join(ids, " "));
  }
  return kFine;
}

int train_tokenizer(const LlmArguments& a) {
  models::TrainOptions options;
  if (a.style != "llama3" && a.style != "qwen3") {
    fail("--style: expected llama3 or qwen3, got '{}'", a.style);
  }
  options.style = a.style == "qwen3" ? models::TrainOptions::kQwen3 : models::TrainOptions::kLlama3;
  options.vocabulary = a.vocabulary;
  options.special_tokens = a.special;
  if (!a.begin.empty()) options.begin = a.begin;
  const std::string own = a.learn_from.empty() ? std::string() : read_input_file(a.learn_from);
  const std::string_view text = a.learn_from.empty() ? models::kTrainingText : own;
  const auto content = models::train_tokenizer(text, options);
  make_directories(a.out);
  write_file_atomically(a.out + "/tokenizer.json", content);
  return kFine;
}

}  // namespace assay::cli
