// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/decoder.h"

#include <charconv>
#include <utility>

#include "models/tokenizer/byte_alphabet.h"
#include "models/tokenizer/normalizer.h"
#include "models/tokenizer/utf8.h"

namespace assay::models {
namespace {

void read_decoder_steps(const JsonField& field, std::vector<DecoderStep>& steps) {
  const auto type = field["type"];
  const auto& name = type.text();
  const auto character = [&field](std::string_view key) {
    const auto member = field[key];
    const auto& text = member.text();
    if (text.empty() || utf8_length(text[0]) != text.size()) member.refuse_kind("one character");
    return text;
  };
  constexpr std::int64_t kMostStripped = 1 << 20;
  if (steps.size() == kMostSteps) field.refuse("too many steps");
  if (name == "Sequence") {
    for (const auto& element : field["decoders"].elements()) read_decoder_steps(element, steps);
  } else if (name == "ByteLevel") {
    steps.push_back({DecoderStep::kByteLevel});
  } else if (name == "Replace") {
    steps.push_back(
        {DecoderStep::kReplace, read_pattern(field["pattern"]), field["content"].text()});
  } else if (name == "ByteFallback") {
    steps.push_back({DecoderStep::kByteFallback});
  } else if (name == "Fuse") {
    steps.push_back({DecoderStep::kFuse});
  } else if (name == "Strip") {
    steps.push_back({DecoderStep::kStrip, std::nullopt, character("content"),
                     static_cast<std::size_t>(field["start"].integer(0, kMostStripped)),
                     static_cast<std::size_t>(field["stop"].integer(0, kMostStripped))});
  } else if (name == "Metaspace") {
    const auto scheme = field.find("prepend_scheme");
    const std::string prepends = scheme ? scheme->text() : "always";
    if (prepends != "always" && prepends != "first" && prepends != "never") {
      scheme->refuse_kind("always, first or never");
    }
    if (!field.flag_or("add_prefix_space", true) && prepends != "never") {
      field.refuse("add_prefix_space and prepend_scheme contradict each other");
    }
    steps.push_back(
        {DecoderStep::kMetaspace, Pattern::from_literal(character("replacement")), " "});
    steps.back().drops_first = prepends != "never";
  } else {
    type.refuse_kind("ByteLevel, Replace, ByteFallback, Fuse, Strip, Metaspace or Sequence");
  }
}

// The byte that "<0x41>" names. As tokenizers (Rust) reads it, the first digit may be a plus.
std::optional<char> named_byte(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  auto digits = token.substr(3, 2);
  if (digits[0] == '+') digits.remove_prefix(1);
  unsigned value = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  if (end != digits.data() + digits.size()) return std::nullopt;
  return static_cast<char>(value);
}

bool makes_one(const DecoderStep& step) {
  return step.kind == DecoderStep::kFuse || step.kind == DecoderStep::kByteLevel;
}

// Whether pieces of one token may go through as they come: a Strip that takes nothing off the end
// has to keep nothing back.
bool passes_pieces(const DecoderStep& step) {
  return step.kind == DecoderStep::kFuse || (step.kind == DecoderStep::kStrip && step.stop == 0);
}

}  // namespace

std::vector<DecoderStep> read_decoder(const std::optional<JsonField>& field) {
  std::vector<DecoderStep> steps;
  if (field) {
    read_decoder_steps(*field, steps);
  } else {
    steps.push_back({DecoderStep::kJoin});
  }
  return steps;
}

DecoderStream::DecoderStream(const std::vector<DecoderStep>& steps)
    : steps_(&steps), states_(steps.size()) {
  bool in_one = false, whole_only = false;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    states_[i].in_one = in_one;
    states_[i].left = steps[i].start;
    whole_only |= in_one && !passes_pieces(steps[i]);
    in_one |= makes_one(steps[i]);
  }
  if (!whole_only) return;
  // What makes one token of many keeps all of it, so that those behind see it whole.
  for (std::size_t i = 0; i < steps.size(); ++i) {
    states_[i].in_one = false;
    states_[i].holds_all = makes_one(steps[i]);
  }
}

std::string DecoderStream::push(std::string_view token) {
  hand(0, token);
  return std::exchange(ready_, {});
}

std::string DecoderStream::finish() {
  for (std::size_t i = 0; i < steps_->size(); ++i) {
    const auto& step = (*steps_)[i];
    auto& state = states_[i];
    if (step.kind == DecoderStep::kByteFallback) flush_fallback(i);
    if (step.kind == DecoderStep::kByteLevel) hand_characters(i, true);
    if (step.kind == DecoderStep::kFuse && state.holds_all)
      hand(i + 1, std::exchange(state.held, {}));
  }
  return std::exchange(ready_, {});
}

void DecoderStream::hand(std::size_t number, std::string_view token) {
  if (number == steps_->size()) {
    ready_ += token;
    return;
  }
  const auto& step = (*steps_)[number];
  auto& state = states_[number];
  const bool first = !std::exchange(state.started, true);
  switch (step.kind) {
    case DecoderStep::kByteLevel: {
      const auto bytes = bytes_of_characters(token);
      state.held += bytes ? std::string_view(*bytes) : token;
      if (!state.holds_all) hand_characters(number, false);
      return;
    }
    case DecoderStep::kReplace:
    case DecoderStep::kMetaspace: {
      Pattern::Work work(token.size());
      const auto content = first && step.drops_first ? std::string_view() : step.content;
      hand(number + 1, replaced(token, *step.pattern, content, work));
      return;
    }
    case DecoderStep::kByteFallback:
      if (const auto byte = named_byte(token)) {
        state.held += *byte;
      } else {
        flush_fallback(number);
        hand(number + 1, token);
      }
      return;
    case DecoderStep::kFuse:
      if (state.holds_all)
        state.held += token;
      else
        hand(number + 1, token);
      return;
    case DecoderStep::kStrip:
      hand(number + 1, stripped(step, state, token));
      return;
    case DecoderStep::kJoin:
      if (!first) hand(number + 1, " ");
      hand(number + 1, token);
      return;
  }
}

void DecoderStream::hand_characters(std::size_t number, bool at_end) {
  std::string_view held = states_[number].held;
  std::string text;
  while (!held.empty()) {
    const auto piece = first_piece(held);
    if (piece.kind == Utf8Piece::kUnfinished && !at_end) break;
    text +=
        piece.kind == Utf8Piece::kCharacter ? held.substr(0, piece.length) : kReplacementCharacter;
    held.remove_prefix(piece.length);
  }
  states_[number].held = std::string(held);
  hand(number + 1, text);
}

void DecoderStream::flush_fallback(std::size_t number) {
  const std::string held = std::exchange(states_[number].held, {});
  if (held.empty()) return;
  if (valid_prefix(held) == held.size()) {
    hand(number + 1, held);
  } else {
    for (std::size_t i = 0; i < held.size(); ++i) hand(number + 1, kReplacementCharacter);
  }
}

std::string DecoderStream::stripped(const DecoderStep& step, State& state, std::string_view token) {
  if (!state.in_one) state.left = step.start;
  while (state.left > 0 && !token.empty()) {
    if (!token.starts_with(step.content)) {
      state.left = 0;
      break;
    }
    token.remove_prefix(step.content.size());
    --state.left;
  }
  for (std::size_t i = 0; i < step.stop && token.ends_with(step.content); ++i) {
    token.remove_suffix(step.content.size());
  }
  return std::string(token);
}

}  // namespace assay::models
