// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/pre_tokenizer.h"

#include <algorithm>
#include <array>

#include "models/tokenizer/normalizer.h"

namespace assay::models {

const std::string_view kGpt2Words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

namespace {

// What Digits takes for a digit: category N, of a Unicode that is newer than that of the patterns.
constexpr std::string_view kNumerals = R"([\p{N}\x{11de0}-\x{11de9}\x{16ff4}-\x{16ff6}])";

SplitBehavior read_behavior(const JsonField& field) {
  constexpr std::array<std::string_view, 5> kNames = {"Removed", "Isolated", "MergedWithPrevious",
                                                      "MergedWithNext", "Contiguous"};
  const auto found = std::ranges::find(kNames, field.text());
  if (found == kNames.end()) {
    field.refuse_kind("Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
  }
  return static_cast<SplitBehavior>(found - kNames.begin());
}

struct TextSpan {
  std::size_t begin, end;
  bool is_match;
};

// Matches and what is between them, in order.
std::vector<TextSpan> spans_of(std::string_view text, const Pattern& pattern, bool invert,
                               Pattern::Work& work) {
  std::vector<TextSpan> spans;
  std::size_t end = 0;
  PatternMatches matches(pattern, text, work);
  while (const auto match = matches.next()) {
    if (match->begin != end) spans.push_back({end, match->begin, invert});
    spans.push_back({match->begin, match->end, !invert});
    end = match->end;
  }
  if (end != text.size()) spans.push_back({end, text.size(), invert});
  return spans;
}

// The spans, joined as the behaviour says. A match is merged with its neighbour, but a second match
// right beside it stands alone: that is how tokenizers has it.
void join_spans(std::vector<TextSpan>& spans, SplitBehavior behavior) {
  std::vector<TextSpan> joined;
  if (behavior == SplitBehavior::kMergedWithNext) std::ranges::reverse(spans);
  bool match_before = false;
  for (const auto& span : spans) {
    const bool joins = behavior == SplitBehavior::kContiguous ? span.is_match == match_before
                                                              : span.is_match && !match_before;
    if (joins && !joined.empty()) {
      joined.back().begin = std::min(joined.back().begin, span.begin);
      joined.back().end = std::max(joined.back().end, span.end);
    } else {
      joined.push_back(span);
    }
    match_before = span.is_match;
  }
  if (behavior == SplitBehavior::kMergedWithNext) std::ranges::reverse(joined);
  spans = std::move(joined);
}

}  // namespace

PreTokenizer::PreTokenizer(const JsonField& field) { read(field); }

void PreTokenizer::read(const JsonField& field) {
  const auto type = field["type"];
  const auto& name = type.text();
  if (steps_.size() == kMostSteps) field.refuse("too many steps");
  if (byte_level_) type.refuse("nothing may follow ByteLevel");
  Step step;
  if (name == "Sequence") {
    for (const auto& element : field["pretokenizers"].elements()) read(element);
    return;
  }
  if (name == "Split") {
    step.pattern = read_pattern(field["pattern"]);
    step.behavior = read_behavior(field["behavior"]);
    step.invert = field["invert"].flag();
  } else if (name == "Digits") {
    step.pattern = Pattern::from_regex(kNumerals, field.where());
    if (!field["individual_digits"].flag()) step.behavior = SplitBehavior::kContiguous;
  } else if (name == "ByteLevel") {
    step.prefix_space = field["add_prefix_space"].flag();
    if (field.flag_or("use_regex", true))
      step.pattern = Pattern::from_regex(kGpt2Words, field.where());
    byte_level_ = true;
  } else {
    type.refuse_kind("Split, Digits, ByteLevel or Sequence");
  }
  steps_.push_back(std::move(step));
}

void PreTokenizer::split(std::string_view text, Pattern::Work& work, const Use& use) const {
  split_from(0, text, work, use);
}

void PreTokenizer::split_from(std::size_t number, std::string_view text, Pattern::Work& work,
                              const Use& use) const {
  if (text.empty()) return;
  if (number == steps_.size()) {
    use(text);
    return;
  }
  const Step& step = steps_[number];
  std::string with_space;
  if (step.prefix_space && text[0] != ' ') {
    with_space.reserve(text.size() + 1);
    text = with_space.append(" ").append(text);
  }
  if (!step.pattern) {
    split_from(number + 1, text, work, use);
  } else if (step.behavior == SplitBehavior::kIsolated) {
    std::size_t end = 0;
    PatternMatches matches(*step.pattern, text, work);
    while (const auto match = matches.next()) {
      split_from(number + 1, text.substr(end, match->begin - end), work, use);
      split_from(number + 1, text.substr(match->begin, match->end - match->begin), work, use);
      end = match->end;
    }
    split_from(number + 1, text.substr(end), work, use);
  } else {
    auto spans = spans_of(text, *step.pattern, step.invert, work);
    if (step.behavior == SplitBehavior::kRemoved) {
      std::erase_if(spans, [](const TextSpan& span) { return span.is_match; });
    } else {
      join_spans(spans, step.behavior);
    }
    for (const auto& span : spans) {
      split_from(number + 1, text.substr(span.begin, span.end - span.begin), work, use);
    }
  }
}

}  // namespace assay::models
