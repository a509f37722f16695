// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "egraph/term.h"

#include <algorithm>
#include <charconv>
#include <iterator>

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

// All of a term but its children.
void write_head(const Term& term, const Vocabulary& vocabulary, std::string& to) {
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

// Children are freed one after the other by whichever destructor began, not each inside its
// parent's.
Term::~Term() {
  thread_local std::vector<TermPtr>* waiting = nullptr;
  if (children.empty()) return;
  if (waiting != nullptr) {
    std::ranges::move(children, std::back_inserter(*waiting));
    return;
  }
  auto all = std::move(children);
  waiting = &all;
  while (!all.empty()) {
    const auto last = std::move(all.back());
    all.pop_back();
  }
  waiting = nullptr;
}

bool equal(const Term& a, const Term& b) {
  for (std::vector<std::pair<const Term*, const Term*>> todo{{&a, &b}}; !todo.empty();) {
    const auto [x, y] = todo.back();
    todo.pop_back();
    if (x == y) continue;
    if (x->variable != y->variable || x->op != y->op || x->payload != y->payload ||
        x->payload_variable != y->payload_variable || x->children.size() != y->children.size()) {
      return false;
    }
    for (std::size_t i = 0; i < x->children.size(); ++i) {
      todo.emplace_back(x->children[i].get(), y->children[i].get());
    }
  }
  return true;
}

TermPtr parse_term(std::string_view text, Vocabulary& vocabulary) {
  return Parser(text, vocabulary).whole();
}

std::string to_text(const Term& term, const Vocabulary& vocabulary) {
  std::string text;
  write_head(term, vocabulary, text);
  for (std::vector<std::pair<const Term*, std::size_t>> open{{&term, 0}}; !open.empty();) {
    auto& [of, next] = open.back();
    if (next < of->children.size()) {
      const Term* child = of->children[next++].get();
      text += ' ';
      write_head(*child, vocabulary, text);
      open.emplace_back(child, 0);
      continue;
    }
    if (!of->children.empty()) text += ')';
    open.pop_back();
  }
  return text;
}

}  // namespace assay::egraph
