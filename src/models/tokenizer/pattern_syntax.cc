// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/tokenizer/pattern_syntax.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "models/tokenizer/utf8.h"

namespace assay::models {
namespace {

constexpr std::size_t kLongestPattern = 1 << 16;
constexpr int kDeepestGroup = 50;
constexpr std::uint32_t kMostRepeats = 1000;
constexpr std::string_view kSpecial = "()[{*+?|.^$\\";

Characters one_character(char32_t c) { return Characters({{c, c}}); }
bool is_letter(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class PatternParser {
 public:
  PatternParser(std::string_view regex, std::string_view what)
      : regex_(regex), what_(what), at_(regex.data()), end_(at_ + regex.size()) {}

  PatternNode parse() {
    auto node = choice(0);
    if (at_ != end_) refuse("a ')' without its '('");
    return node;
  }

 private:
  [[noreturn]] void refuse(std::string_view construct) const {
    fail("{}: the pattern has {}, which is not supported: '{}'", what_, construct,
         fit(printable(regex_), 200));
  }
  bool done() const { return at_ == end_; }
  bool takes(std::string_view text) {
    if (!std::string_view(at_, end_).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  bool sees(char c) const { return !done() && *at_ == c; }
  char32_t take() {
    if (done()) refuse("an end before its time");
    return next_character(at_);
  }

  PatternNode choice(int depth) {
    if (depth > kDeepestGroup) refuse("groups this deep");
    PatternNode node{PatternNode::kChoice};
    do node.parts.push_back(sequence(depth));
    while (takes("|"));
    if (node.parts.size() > 1) return node;
    auto only = std::move(node.parts[0]);
    return only;
  }

  PatternNode sequence(int depth) {
    PatternNode node{PatternNode::kSequence};
    previous_folded_ = 0;
    while (!done() && !sees('|') && !sees(')')) node.parts.push_back(quantified(atom(depth)));
    previous_folded_ = 0;
    return node;
  }

  PatternNode atom(int depth) {
    if (takes("(")) return group(depth);
    if (sees('[')) {
      refuse_in_fold("a class in (?i:…)");
      return of(bracket_class());
    }
    if (takes(".")) {
      refuse_in_fold("'.' in (?i:…)");
      return of(~one_character('\n'));
    }
    if (sees('\\')) return escape_atom();
    const char32_t c = take();
    if (c < 0x80 && kSpecial.find(static_cast<char>(c)) != std::string_view::npos) {
      refuse("'" + std::string(1, static_cast<char>(c)) + "' there");
    }
    return literal(c);
  }

  static PatternNode of(Characters set) {
    PatternNode node{PatternNode::kSet};
    node.set = std::move(set);
    return node;
  }
  void refuse_in_fold(std::string_view construct) const {
    if (folds_) refuse(construct);
  }

  // In (?i:…), Oniguruma also takes characters that fold to the letter, and some that fold to two.
  PatternNode literal(char32_t c) {
    if (!folds_) return of(one_character(c));
    if (c >= 0x80) refuse("a character beyond ASCII in (?i:…)");
    if (!is_letter(c)) {
      previous_folded_ = 0;
      return of(one_character(c));
    }
    const char32_t lower = c | 0x20, upper = lower - 0x20;
    const std::string two = {static_cast<char>(previous_folded_), static_cast<char>(lower)};
    for (const auto* ligature : {"ss", "st", "ff", "fi", "fl"}) {
      if (two == ligature) refuse("letters in (?i:…) that fold from one character");
    }
    previous_folded_ = lower;
    auto set = Characters({{lower, lower}, {upper, upper}});
    if (lower == 's') set = set | one_character(0x17f);
    if (lower == 'k') set = set | one_character(0x212a);
    return of(std::move(set));
  }

  PatternNode group(int depth) {
    PatternNode::Kind kind = PatternNode::kSequence;
    const bool folded = folds_;
    if (takes("?i:"))
      folds_ = true;
    else if (takes("?="))
      kind = PatternNode::kAhead;
    else if (takes("?!"))
      kind = PatternNode::kNotAhead;
    else if (takes("?>"))
      kind = PatternNode::kAtomic;
    else if (takes("?:"))
      kind = PatternNode::kSequence;
    else if (sees('?'))
      refuse("'(" + std::string(at_, std::min(end_, at_ + 3)) + "'");
    PatternNode node{kind};
    node.parts.push_back(choice(depth + 1));
    if (!takes(")")) refuse("a '(' without its ')'");
    folds_ = folded;
    return node;
  }

  PatternNode quantified(PatternNode part) {
    PatternNode node{PatternNode::kRepeat};
    const bool interval = sees('{');
    if (takes("?"))
      node.most = 1;
    else if (takes("*"))
      node.most = kUnlimited;
    else if (takes("+"))
      node.least = 1, node.most = kUnlimited;
    else if (takes("{"))
      read_interval(node);
    else
      return part;
    if (part.kind == PatternNode::kAhead || part.kind == PatternNode::kNotAhead) {
      refuse("a repeated look ahead");
    }
    if (node.most == kUnlimited && matches_empty(part)) {
      refuse("an endless repeat of what may match nothing");
    }
    // In this syntax {2}? and {2}+ are something else than lazy and possessive.
    const bool fixed = interval && (node.least == node.most || sees('+'));
    if (fixed && (sees('?') || sees('+'))) refuse("'{…}' with '?' or '+'");
    if (takes("?"))
      node.manner = PatternNode::kLazy;
    else if (takes("+"))
      node.manner = PatternNode::kPossessive;
    if (sees('*') || sees('+') || sees('?') || sees('{')) refuse("a quantifier behind another");
    node.parts.push_back(std::move(part));
    previous_folded_ = 0;
    return node;
  }

  std::optional<std::uint32_t> number() {
    std::optional<std::uint32_t> value;
    while (!done() && *at_ >= '0' && *at_ <= '9') {
      value = value.value_or(0) * 10 + static_cast<std::uint32_t>(*at_++ - '0');
      if (*value > kMostRepeats) refuse("more than 1000 repeats");
    }
    return value;
  }
  void read_interval(PatternNode& node) {
    const auto least = number();
    node.least = least.value_or(0);
    node.most = node.least;
    if (takes(",")) {
      const auto most = number();
      if (!least && !most) refuse("'{,}'");
      node.most = most.value_or(kUnlimited);
    } else if (!least) {
      refuse("a '{' that is no quantifier");
    }
    if (!takes("}") || node.most < node.least) refuse("a '{' that is no quantifier");
  }

  PatternNode escape_atom() {
    // Outside of [], \w has Latin-1's other numerals too: Oniguruma asks another table there.
    const Characters latin_numerals({{0xb2, 0xb3}, {0xb9, 0xb9}, {0xbc, 0xbe}});
    const bool is_word = std::string_view(at_, end_).starts_with("\\w");
    const bool is_other = std::string_view(at_, end_).starts_with("\\W");
    if (auto set = class_escape()) {
      refuse_in_fold("a class in (?i:…)");
      if (is_word) return of(*set | latin_numerals);
      if (is_other) return of(~(~*set | latin_numerals));
      return of(std::move(*set));
    }
    return literal(character_escape());
  }

  // \s, \p{L} and such; nothing where the escape is a character.
  std::optional<Characters> class_escape() {
    if (takes("\\s")) return white_space();
    if (takes("\\S")) return ~white_space();
    if (takes("\\d")) return characters_of_category("Nd");
    if (takes("\\D")) return ~characters_of_category("Nd");
    if (takes("\\w")) return word_characters();
    if (takes("\\W")) return ~word_characters();
    const bool upper = std::string_view(at_, end_).starts_with("\\P{");
    if (!upper && !std::string_view(at_, end_).starts_with("\\p{")) return std::nullopt;
    at_ += 3;
    const bool opposite = takes("^") != upper;
    const char* const name = at_;
    while (!done() && *at_ != '}') ++at_;
    const std::string_view category(name, at_);
    if (!takes("}")) refuse("'\\p{' without its '}'");
    auto set = characters_of_category(category);
    if (set.ranges().empty() && category != "Cs") refuse("'\\p{" + printable(category) + "}'");
    return opposite ? ~set : set;
  }

  char32_t hex(std::size_t least, std::size_t most) {
    char32_t value = 0;
    std::size_t digits = 0;
    for (; digits < most && !done(); ++digits, ++at_) {
      const char c = *at_;
      if (c >= '0' && c <= '9')
        value = value * 16 + static_cast<char32_t>(c - '0');
      else if (is_letter(static_cast<char32_t>(c)) && (c | 0x20) <= 'f')
        value = value * 16 + static_cast<char32_t>((c | 0x20) - 'a' + 10);
      else
        break;
    }
    if (digits < least || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) {
      refuse("a character's number that is none");
    }
    return value;
  }

  char32_t character_escape() {
    take();
    if (takes("x{")) {
      const char32_t c = hex(1, 8);
      if (!takes("}")) refuse("'\\x{' without its '}'");
      return c;
    }
    if (takes("x")) {
      const char32_t c = hex(2, 2);
      if (c >= 0x80) refuse("a byte of a character ('\\x80' and above)");
      return c;
    }
    if (takes("u")) return hex(4, 4);
    const char32_t c = take();
    switch (c) {
      case 't':
        return '\t';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 'f':
        return '\f';
      case 'v':
        return '\v';
      case 'a':
        return '\a';
      case 'e':
        return 0x1b;
      default:
        break;
    }
    const bool plain = c < 0x80 && c > 0x20 && !is_letter(c) && !(c >= '0' && c <= '9');
    if (!plain && c != ' ') {
      std::string name = "'\\";
      append_utf8(name, c);
      refuse(printable(name) + "'");
    }
    return c;
  }

  Characters bracket_class() {
    take();
    const bool opposite = takes("^");
    if (sees(']')) refuse("an empty class");
    std::vector<Characters::Range> ranges;
    while (!takes("]")) {
      if (done()) refuse("a '[' without its ']'");
      if (sees('[')) refuse("a class within a class");
      if (std::string_view(at_, end_).starts_with("&&")) refuse("'&&'");
      if (auto escape = class_escape()) {
        if (sees('-') && at_ + 1 != end_ && at_[1] != ']') refuse("'-' behind a class");
        ranges.insert(ranges.end(), escape->ranges().begin(), escape->ranges().end());
        continue;
      }
      const char32_t first = sees('\\') ? character_escape() : take();
      char32_t last = first;
      if (sees('-') && at_ + 1 != end_ && at_[1] != ']') {
        take();
        if (sees('[') || class_escape()) refuse("'-' before a class");
        last = sees('\\') ? character_escape() : take();
        if (last < first) refuse("a range whose end is before its beginning");
      }
      ranges.push_back({first, last});
    }
    const Characters set(std::move(ranges));
    return opposite ? ~set : set;
  }

  std::string_view regex_, what_;
  const char* at_;
  const char* end_;
  bool folds_ = false;
  char32_t previous_folded_ = 0;
};

}  // namespace

PatternNode parse_pattern(std::string_view regex, std::string_view what) {
  if (regex.size() > kLongestPattern) {
    fail("{}: the pattern has {} bytes; {} is the most", what, regex.size(), kLongestPattern);
  }
  return PatternParser(regex, what).parse();
}

bool matches_empty(const PatternNode& node) {
  switch (node.kind) {
    case PatternNode::kSet:
      return false;
    case PatternNode::kSequence:
    case PatternNode::kAtomic:
      return std::ranges::all_of(node.parts, matches_empty);
    case PatternNode::kChoice:
      return std::ranges::any_of(node.parts, matches_empty);
    case PatternNode::kRepeat:
      return node.least == 0 || matches_empty(node.parts[0]);
    case PatternNode::kAhead:
    case PatternNode::kNotAhead:
      return true;
  }
  return true;
}

Characters first_characters(const PatternNode& node) {
  Characters set;
  switch (node.kind) {
    case PatternNode::kSet:
      return node.set;
    case PatternNode::kSequence:
    case PatternNode::kAtomic:
      for (const auto& part : node.parts) {
        if (part.kind == PatternNode::kAhead || part.kind == PatternNode::kNotAhead) continue;
        set = set | first_characters(part);
        if (!matches_empty(part)) return set;
      }
      return set;
    case PatternNode::kChoice:
    case PatternNode::kRepeat:
      for (const auto& part : node.parts) set = set | first_characters(part);
      return set;
    case PatternNode::kAhead:
    case PatternNode::kNotAhead:
      break;
  }
  return set;
}

}  // namespace assay::models
