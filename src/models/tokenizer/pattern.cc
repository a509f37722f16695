// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/pattern.h"

#include <bit>
#include <bitset>
#include <span>

#include "base/error.h"
#include "models/tokenizer/pattern_compile.h"
#include "models/tokenizer/pattern_syntax.h"
#include "models/tokenizer/utf8.h"

namespace assay::models {
namespace {

constexpr std::size_t kMostAlternatives = 64;

// The first bytes of these characters in UTF-8.
std::bitset<256> first_bytes(const Characters& set) {
  std::bitset<256> result;
  const auto lead = [](char32_t c) {
    std::string text;
    append_utf8(text, c);
    return static_cast<unsigned char>(text[0]);
  };
  for (const auto& range : set.ranges()) {
    for (unsigned byte = lead(range.first); byte <= lead(range.last); ++byte) result.set(byte);
  }
  return result;
}

class PatternMachine {
 public:
  PatternMachine(const PatternProgram& program, std::string_view text, Pattern::Work& work)
      : program_(program), end_(text.data() + text.size()), work_(work) {}

  // Where a match that begins with this instruction at this place ends; nullptr where there is
  // none.
  const char* run(std::uint32_t instruction, const char* at) {
    const std::size_t bottom = work_.returns.size();
    while (true) {
      const char* const end = run_on(instruction, at);
      if (end != nullptr) {
        work_.returns.resize(bottom);
        return end;
      }
      if (work_.returns.size() == bottom) return nullptr;
      spend(1);
      auto& back = work_.returns.back();
      instruction = back.instruction;
      at = back.at;
      if (back.at == back.least) {
        work_.returns.pop_back();
      } else {
        back.at = previous_character(back.at);
      }
    }
  }

 private:
  void spend(std::uint64_t steps) {
    if (work_.steps_left < steps)
      fail("a pattern of the tokenizer goes back too often on this text");
    work_.steps_left -= steps;
  }

  // Until it fails for the first time.
  const char* run_on(std::uint32_t instruction, const char* at) {
    while (true) {
      const auto& now = program_.instructions[instruction];
      switch (now.kind) {
        case PatternInstruction::kSet:
          if (at == end_ || !program_.sets[now.set](next_character(at))) return nullptr;
          break;
        case PatternInstruction::kRepeat:
        case PatternInstruction::kRepeatAll:
          if (!repeat(now, instruction, at)) return nullptr;
          break;
        case PatternInstruction::kFork:
          spend(1);
          work_.returns.push_back({instruction + 1, at, at});
          instruction = now.target;
          continue;
        case PatternInstruction::kJump:
          instruction = now.target;
          continue;
        case PatternInstruction::kAhead:
        case PatternInstruction::kNotAhead:
          if ((run(instruction + 1, at) != nullptr) != (now.kind == PatternInstruction::kAhead)) {
            return nullptr;
          }
          instruction = now.target;
          continue;
        case PatternInstruction::kAtomic:
          at = run(instruction + 1, at);
          if (at == nullptr) return nullptr;
          instruction = now.target;
          continue;
        case PatternInstruction::kMatch:
          return at;
      }
      ++instruction;
    }
  }

  bool repeat(const PatternInstruction& now, std::uint32_t instruction, const char*& at) {
    const auto& set = program_.sets[now.set];
    const char* const begin = at;
    const char* least = now.least == 0 ? at : nullptr;
    for (std::uint32_t count = 0; count < now.most && at != end_;) {
      const char* next = at;
      if (!set(next_character(next))) break;
      at = next;
      if (++count == now.least) least = at;
    }
    spend(static_cast<std::uint64_t>(at - begin));
    if (least == nullptr) return false;
    // What cannot fail behind it needs nothing to be given back.
    const bool last = program_.instructions[instruction + 1].kind == PatternInstruction::kMatch;
    if (at != least && !last && now.kind == PatternInstruction::kRepeat) {
      work_.returns.push_back({instruction + 1, previous_character(at), least});
    }
    return true;
  }

  const PatternProgram& program_;
  const char* end_;
  Pattern::Work& work_;
};

}  // namespace

Pattern Pattern::from_literal(std::string_view literal) {
  check(!literal.empty(), "a literal pattern is not empty");
  Pattern pattern;
  pattern.literal_ = literal;
  return pattern;
}

Pattern Pattern::from_regex(std::string_view regex, std::string_view what) {
  const auto node = parse_pattern(regex, what);
  Pattern pattern;
  const bool split = node.kind == PatternNode::kChoice && node.parts.size() <= kMostAlternatives;
  const std::size_t count = split ? node.parts.size() : 1;
  const std::span<const PatternNode> alternatives(split ? node.parts.data() : &node, count);
  pattern.program_ = compile_pattern(alternatives, what);
  for (std::size_t i = 0; i < count; ++i) {
    const bool empty = matches_empty(alternatives[i]);
    pattern.matches_empty_ |= empty;
    const auto bytes =
        empty ? std::bitset<256>().set() : first_bytes(first_characters(alternatives[i]));
    for (std::size_t byte = 0; byte < 256; ++byte) {
      if (bytes[byte]) pattern.alternatives_of_byte_[byte] |= std::uint64_t{1} << i;
    }
  }
  return pattern;
}

std::optional<PatternMatch> Pattern::find(std::string_view text, std::size_t from,
                                          Work& work) const {
  if (!literal_.empty()) {
    const auto found = text.find(literal_, from);
    if (found == std::string_view::npos) return std::nullopt;
    return PatternMatch{found, found + literal_.size()};
  }
  PatternMachine machine(program_, text, work);
  for (std::size_t begin = from; begin < text.size(); begin += utf8_length(text[begin])) {
    auto alternatives = alternatives_of_byte_[static_cast<unsigned char>(text[begin])];
    for (; alternatives != 0; alternatives &= alternatives - 1) {
      const auto first =
          program_.alternatives[static_cast<std::size_t>(std::countr_zero(alternatives))];
      const char* const end = machine.run(first, text.data() + begin);
      if (end != nullptr) return PatternMatch{begin, static_cast<std::size_t>(end - text.data())};
    }
  }
  if (!matches_empty_) return std::nullopt;
  for (const auto first : program_.alternatives) {  // at the very end
    if (machine.run(first, text.data() + text.size()) != nullptr)
      return PatternMatch{text.size(), text.size()};
  }
  return std::nullopt;
}

std::optional<PatternMatch> PatternMatches::next() {
  while (from_ <= text_.size()) {
    const auto match = pattern_->find(text_, from_, *work_);
    if (!match) return std::nullopt;
    if (match->begin == match->end && last_end_ == match->end) {
      from_ += from_ < text_.size() ? utf8_length(text_[from_]) : 1;
      continue;
    }
    from_ = match->end;
    last_end_ = match->end;
    return match;
  }
  return std::nullopt;
}

}  // namespace assay::models
