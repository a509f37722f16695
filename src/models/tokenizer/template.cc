// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/template.h"

namespace assay::models {

Template::Template(const JsonField& field, std::size_t id_limit) { read(field, id_limit); }

void Template::read(const JsonField& field, std::size_t id_limit) {
  const auto type = field["type"];
  const auto& name = type.text();
  if (name == "Sequence") {
    for (const auto& element : field["processors"].elements()) read(element, id_limit);
    return;
  }
  if (name == "ByteLevel") return;
  if (name != "TemplateProcessing") type.refuse_kind("TemplateProcessing, ByteLevel or Sequence");
  if (pieces_) type.refuse("a second template");
  pieces_.emplace();
  const auto special_tokens = field["special_tokens"];
  for (const auto& piece : field["single"].elements()) {
    if (const auto sequence = piece.find("Sequence")) {
      const auto id = (*sequence)["id"];
      if (id.text() != "A") id.refuse_kind("A");
      pieces_->push_back(std::nullopt);
      continue;
    }
    const auto token = special_tokens[piece["SpecialToken"]["id"].text()];
    std::vector<TokenId> ids;
    for (const auto& id : token["ids"].elements()) {
      ids.push_back(static_cast<TokenId>(id.integer(0, static_cast<std::int64_t>(id_limit) - 1)));
    }
    pieces_->emplace_back(std::move(ids));
  }
}

std::vector<TokenId> Template::apply(std::vector<TokenId> text, bool add_special_tokens) const {
  if (!pieces_) return text;
  std::vector<TokenId> result;
  for (const auto& piece : *pieces_) {
    if (piece && !add_special_tokens) continue;
    const auto& ids = piece ? *piece : text;
    result.insert(result.end(), ids.begin(), ids.end());
  }
  return result;
}

}  // namespace assay::models
