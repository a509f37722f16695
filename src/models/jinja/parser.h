// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tokens to a tree: expressions, by the precedence that Jinja has. Statements are parsed on top.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/jinja/lexer.h"
#include "models/jinja/syntax.h"

namespace assay::models::jinja {

class ExpressionParser {
 public:
  ExpressionParser(std::vector<Token> tokens, Work& work)
      : tokens_(std::move(tokens)), work_(work) {}

 protected:
  // An expression; a tuple where commas follow.
  ExpressionPtr parse_tuple(bool has_conditional = true);
  ExpressionPtr parse_expression() { return parse_conditional(); }

  const Token& current() const { return tokens_[at_]; }
  const Token& following() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  void skip();
  bool is_operator(std::string_view text) const;
  bool is_word(std::string_view text) const;
  bool skip_operator(std::string_view text);
  bool skip_word(std::string_view text);
  void expect_operator(std::string_view text);
  std::string expect_name();
  void expect(Token::Kind kind, std::string_view what);
  [[noreturn]] void refuse_current(std::string_view expected) const;
  [[noreturn]] void refuse(std::string_view problem) const { work_.refuse(problem); }

  // Brackets and blocks within each other.
  class Level {
   public:
    explicit Level(ExpressionParser& parser);
    ~Level() { --parser_.level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    ExpressionParser& parser_;
  };

 private:
  ExpressionPtr parse_conditional();
  ExpressionPtr parse_or();
  ExpressionPtr parse_and();
  ExpressionPtr parse_not();
  ExpressionPtr parse_compare();
  ExpressionPtr parse_sum();
  ExpressionPtr parse_concat();
  ExpressionPtr parse_product();
  ExpressionPtr parse_unary(bool with_filters);
  ExpressionPtr parse_primary();
  ExpressionPtr parse_postfix(ExpressionPtr value);
  ExpressionPtr parse_filters(ExpressionPtr value);
  ExpressionPtr parse_test(ExpressionPtr value);
  ExpressionPtr parse_subscript(ExpressionPtr value);
  ExpressionPtr parse_list();
  ExpressionPtr parse_dict();
  ExpressionPtr parse_number();
  void parse_arguments(Expression& call);
  std::string comparison();  // empty: none here

  ExpressionPtr make(Expression::Kind kind, std::string name = {}) const;
  template <typename... Parts>
  ExpressionPtr make(Expression::Kind kind, std::string name, Parts... parts) const {
    auto made = make(kind, std::move(name));
    (made->parts.push_back(std::move(parts)), ...);
    return measured(std::move(made));
  }
  // With its depth, which is refused where it would need too much stack.
  ExpressionPtr measured(ExpressionPtr made) const;

  const std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int level_ = 0;

 protected:
  Work& work_;
};

}  // namespace assay::models::jinja
