// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/tokenizer_parts.h"

#include <unordered_set>

#include "base/text.h"

namespace assay::models {
namespace {

// Ids may leave gaps, but not such as to take memory for nothing.
std::uint64_t largest_id(std::size_t tokens) { return 4 * tokens + 65536; }

Vocabulary read_vocabulary(const JsonField& field) {
  Vocabulary vocabulary;
  const auto& tokens = field.object();
  for (const auto& [text, id] : tokens.items()) {
    const auto entry = [&, &text = text] {
      return fmt::format("the id of '{}'", fit(printable(text), 100));
    };
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() > largest_id(tokens.size())) {
      field.refuse(fmt::format("{} is not from 0 to {}: {}", entry(), largest_id(tokens.size()),
                               fit(printable(canonical_json(id)), 60)));
    }
    const auto number = id.get<TokenId>();
    if (const auto other = vocabulary.text(number)) {
      field.refuse(
          fmt::format("{} is that of '{}' too: {}", entry(), fit(printable(*other), 100), number));
    }
    vocabulary.add(text, number);
  }
  return vocabulary;
}

std::vector<Bpe::Pair> read_merges(const JsonField& field) {
  std::vector<Bpe::Pair> merges;
  const auto& list = field.array();
  merges.reserve(list.size());
  for (const auto& merge : list) {
    const auto refuse = [&] {
      field.refuse(fmt::format("[{}]: expected \"a b\" or [\"a\", \"b\"], got {}", merges.size(),
                               fit(printable(canonical_json(merge)), 60)));
    };
    if (merge.is_string()) {
      const auto& text = merge.get_ref<const std::string&>();
      const auto space = text.find(' ');
      if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) refuse();
      merges.emplace_back(text.substr(0, space), text.substr(space + 1));
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
               merge[1].is_string()) {
      merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
    } else {
      refuse();
    }
  }
  return merges;
}

// Options that change tokens and that we do not have: off, or refused.
void refuse_unless_off(const JsonField& field, std::string_view key) {
  const auto member = field.find(key);
  if (!member) return;
  const auto& value = field.object().at(std::string(key));
  const bool off = value == "" || value == 0.0 || value == false;
  if (!off) member->refuse_kind("nothing: this is not supported");
}

Bpe read_bpe(const JsonField& field, bool byte_level) {
  const auto type = field.find("type");  // old files leave it out
  if (type && type->text() != "BPE") type->refuse_kind("BPE");
  for (const auto* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) {
    refuse_unless_off(field, key);
  }
  BpeOptions options;
  options.byte_level = byte_level;
  options.byte_fallback = field.flag_or("byte_fallback", false);
  options.ignore_merges = field.flag_or("ignore_merges", false);
  options.fuse_unknown = field.flag_or("fuse_unk", false);
  if (const auto unknown = field.find("unk_token")) options.unknown = unknown->text();
  const auto merges = field["merges"];
  return Bpe(read_vocabulary(field["vocab"]), read_merges(merges), std::move(options),
             merges.where());
}

AddedToken read_added_token(const JsonField& field) {
  AddedToken token;
  const auto content = field["content"];
  token.content = content.text();
  if (token.content.empty()) content.refuse("a token of nothing");
  if (token.content.size() > AddedTokenFinder::kLongest) {
    content.refuse(fmt::format("a token of {} bytes; {} is the most", token.content.size(),
                               AddedTokenFinder::kLongest));
  }
  token.id = static_cast<TokenId>(field["id"].integer(0, 0xfffffffe));
  token.special = field["special"].flag();
  token.normalized = field["normalized"].flag();
  token.single_word = field["single_word"].flag();
  token.left_strip = field["lstrip"].flag();
  token.right_strip = field["rstrip"].flag();
  return token;
}

// A token that the vocabulary has keeps its id; others get those that follow the vocabulary's size.
// So it is in tokenizers, whatever the file says: where it says something else, the model would see
// other tokens than were meant.
void add_token(TokenizerParts& parts, const JsonField& field, AddedToken token, TokenId& next) {
  TokenId id = parts.bpe.vocabulary().find(token.content);
  if (id == Vocabulary::kNone) id = next++;
  const auto shown = fit(printable(token.content), 100);
  if (!parts.added_ids.emplace(token.content, id).second) {
    field["content"].refuse(fmt::format("a second token of that text: '{}'", shown));
  }
  if (id != token.id)
    field["id"].refuse(fmt::format("the id of '{}' is {}, not {}", shown, id, token.id));
  if (const auto other = parts.bpe.vocabulary().text(id); other && *other != token.content) {
    field["id"].refuse(fmt::format("the id of '{}' is that of '{}' too: {}", shown,
                                   fit(printable(*other), 100), id));
  }
  std::string form = token.content;
  Pattern::Work work(form.size());
  if (token.normalized) form = parts.normalizer.apply(std::move(form), work);
  auto& finder = token.normalized ? parts.normalized : parts.raw;
  if (form.empty() || !finder.add(form, token)) {
    field["content"].refuse(fmt::format("normalised, nothing or another token: '{}'", shown));
  }
  parts.id_limit = std::max<std::size_t>(parts.id_limit, id + 1);
  parts.added[id] = {std::move(form), false, token.special};
}

void read_added_tokens(TokenizerParts& parts, const JsonField& field) {
  auto next = static_cast<TokenId>(parts.bpe.vocabulary().size());
  std::unordered_set<std::string> special;
  for (const auto& element : field.elements()) {
    auto token = read_added_token(element);
    if (token.special) special.insert(token.content);
    add_token(parts, element, std::move(token), next);
  }
  // tokenizers goes by the text that it decodes, not by the token.
  for (auto& [id, added] : parts.added) added.skipped = special.contains(added.decoded);
}

}  // namespace

TokenizerParts read_tokenizer_parts(std::string_view text, const std::string& what) {
  const auto json = parse_json(text, what);
  const JsonField root(json, what);
  if (const auto version = root.find("version"); version && version->text() != "1.0") {
    version->refuse_kind("\"1.0\"");
  }
  for (const auto* key : {"truncation", "padding"}) {
    if (const auto member = root.find(key)) member->refuse("this is not supported: expected null");
  }
  const auto normalizer = root.find("normalizer");
  const auto pre_tokenizer = root.find("pre_tokenizer");
  auto words = pre_tokenizer ? PreTokenizer(*pre_tokenizer) : PreTokenizer();
  auto bpe = read_bpe(root["model"], words.is_byte_level());
  TokenizerParts parts{normalizer ? Normalizer(*normalizer) : Normalizer(), std::move(words),
                       std::move(bpe)};
  parts.id_limit = parts.bpe.vocabulary().id_limit();
  if (const auto added = root.find("added_tokens")) read_added_tokens(parts, *added);
  if (parts.id_limit == 0) root["model"]["vocab"].refuse("no tokens");
  if (const auto around = root.find("post_processor"))
    parts.around = Template(*around, parts.id_limit);
  parts.decoder = read_decoder(root.find("decoder"));
  return parts;
}

}  // namespace assay::models
