// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "egraph/term.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace assay::egraph {
namespace {

constexpr int kDeepest = 1000;

class Parser {
 public:
  Parser(std::string_view text, Vocabulary& vocabulary) : text_(text), vocabulary_(vocabulary) {}

  TermPtr whole() {
    auto term = one(0);
    skip_blanks();
    if (at_ < text_.size()) fail_at("something after the term");
    return term;
  }

 private:
  [[noreturn]] void fail_at(const char* what) const {
    fail("a term, at character {}: {}: '{}'", at_ + 1, what, text_.substr(0, 200));
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
      ++at_;
    }
  }
  bool takes(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string word() {
    const auto begin = at_;
    while (at_ < text_.size() && std::string_view(" \n\t()[]").find(text_[at_]) == text_.npos)
      ++at_;
    if (at_ == begin) fail_at("a name is missing");
    return std::string(text_.substr(begin, at_ - begin));
  }
  // A name with its payload; true: it is a variable.
  bool head(Term& into) {
    const auto name = word();
    if (name[0] == '?') {
      into.variable = name;
      return true;
    }
    into.op = vocabulary_.op(name);
    if (!takes('[')) return false;
    const auto value = word();
    if (value[0] == '?') {
      into.payload_variable = value;
    } else {
      const auto [end, error] =
          std::from_chars(value.data(), value.data() + value.size(), into.payload);
      if (error != std::errc() || end != value.data() + value.size()) {
        fail_at("a payload is a number or ?name");
      }
    }
    if (!takes(']')) fail_at("']' is missing");
    return false;
  }
  TermPtr one(int depth) {
    if (depth > kDeepest) fail_at("deeper than anybody writes");
    skip_blanks();
    auto term = std::make_shared<Term>();
    if (!takes('(')) {
      head(*term);
      return term;
    }
    skip_blanks();
    if (head(*term)) fail_at("a variable has no children");
    for (skip_blanks(); !takes(')'); skip_blanks()) {
      if (at_ >= text_.size()) fail_at("')' is missing");
      term->children.push_back(one(depth + 1));
    }
    return term;
  }

  std::string_view text_;
  Vocabulary& vocabulary_;
  std::size_t at_ = 0;
};

void write(const Term& term, const Vocabulary& vocabulary, std::string& to) {
  if (term.is_variable()) {
    to += term.variable;
    return;
  }
  if (!term.children.empty()) to += '(';
  to += vocabulary.name(term.op);
  if (!term.payload_variable.empty()) {
    to += '[' + term.payload_variable + ']';
  } else if (term.payload != 0) {
    to += '[' + std::to_string(term.payload) + ']';
  }
  for (const auto& child : term.children) {
    to += ' ';
    write(*child, vocabulary, to);
  }
  if (!term.children.empty()) to += ')';
}

}  // namespace

Operator Vocabulary::op(std::string_view name) {
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) return found->second;
  const auto number = static_cast<Operator>(names_.size());
  numbers_.emplace(name, number);
  names_.emplace_back(name);
  return number;
}

TermPtr make_term(Operator op, std::vector<TermPtr> children, std::uint64_t payload) {
  auto term = std::make_shared<Term>();
  term->op = op;
  term->payload = payload;
  term->children = std::move(children);
  return term;
}

bool equal(const Term& a, const Term& b) {
  if (&a == &b) return true;
  return a.variable == b.variable && a.op == b.op && a.payload == b.payload &&
         a.payload_variable == b.payload_variable &&
         std::ranges::equal(a.children, b.children,
                            [](const TermPtr& x, const TermPtr& y) { return equal(*x, *y); });
}

TermPtr parse_term(std::string_view text, Vocabulary& vocabulary) {
  return Parser(text, vocabulary).whole();
}

std::string to_text(const Term& term, const Vocabulary& vocabulary) {
  std::string text;
  write(term, vocabulary, text);
  return text;
}

}  // namespace assay::egraph
