// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/normalizer.h"

#include "base/error.h"
#include "models/tokenizer/nfc.h"

namespace assay::models {

Pattern read_pattern(const JsonField& field) {
  if (const auto literal = field.find("String")) {
    if (literal->text().empty()) literal->refuse("a pattern of nothing");
    return Pattern::from_literal(literal->text());
  }
  const auto regex = field["Regex"];
  return Pattern::from_regex(regex.text(), regex.where());
}

std::string replaced(std::string_view text, const Pattern& pattern, std::string_view content,
                     Pattern::Work& work) {
  std::string result;
  result.reserve(text.size());
  std::size_t copied = 0;
  PatternMatches matches(pattern, text, work);
  while (const auto match = matches.next()) {
    result.append(text, copied, match->begin - copied).append(content);
    copied = match->end;
    if (result.size() > work.largest_text)
      fail("a Replace of the tokenizer makes too much of a text");
  }
  return result.append(text, copied);
}

Normalizer::Normalizer(const JsonField& field) { read(field); }

void Normalizer::read(const JsonField& field) {
  const auto type = field["type"];
  const auto& name = type.text();
  if (steps_.size() == kMostSteps) field.refuse("too many steps");
  if (name == "Sequence") {
    for (const auto& element : field["normalizers"].elements()) read(element);
  } else if (name == "NFC") {
    steps_.push_back({Step::kNfc});
  } else if (name == "Replace") {
    steps_.push_back({Step::kReplace, read_pattern(field["pattern"]), field["content"].text()});
  } else if (name == "Prepend") {
    steps_.push_back({Step::kPrepend, std::nullopt, field["prepend"].text()});
  } else {
    type.refuse_kind("NFC, Replace, Prepend or Sequence");
  }
}

std::string Normalizer::apply(std::string text, Pattern::Work& work) const {
  for (const auto& step : steps_) {
    switch (step.kind) {
      case Step::kNfc:
        text = nfc(text);
        break;
      case Step::kReplace:
        text = replaced(text, *step.pattern, step.content, work);
        break;
      case Step::kPrepend:
        if (!text.empty()) text.insert(0, step.content);
        break;
    }
  }
  return text;
}

}  // namespace assay::models
