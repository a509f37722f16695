// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/jinja/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace assay::models::jinja {
namespace {

constexpr int kDeepestTree = 200;

}  // namespace

ExpressionParser::Level::Level(ExpressionParser& parser) : parser_(parser) {
  if (++parser.level_ > kDeepestTree) {
    parser.refuse(fmt::format("more than {} levels within each other", kDeepestTree));
  }
}

void ExpressionParser::skip() {
  if (at_ + 1 < tokens_.size()) ++at_;
  work_.line = current().line;
}
bool ExpressionParser::is_operator(std::string_view text) const {
  return current().kind == Token::kOperator && current().text == text;
}
bool ExpressionParser::is_word(std::string_view text) const {
  return current().kind == Token::kName && current().text == text;
}
bool ExpressionParser::skip_operator(std::string_view text) {
  if (!is_operator(text)) return false;
  skip();
  return true;
}
bool ExpressionParser::skip_word(std::string_view text) {
  if (!is_word(text)) return false;
  skip();
  return true;
}
void ExpressionParser::expect_operator(std::string_view text) {
  if (!skip_operator(text)) refuse_current(fmt::format("'{}'", text));
}
std::string ExpressionParser::expect_name() {
  if (current().kind != Token::kName) refuse_current("a name");
  auto name = current().text;
  skip();
  return name;
}
void ExpressionParser::expect(Token::Kind kind, std::string_view what) {
  if (current().kind != kind) refuse_current(what);
  skip();
}
void ExpressionParser::refuse_current(std::string_view expected) const {
  const auto& token = current();
  const bool is_shown = token.kind == Token::kName || token.kind == Token::kOperator ||
                        token.kind == Token::kInteger || token.kind == Token::kFloat;
  const std::string got = is_shown                     ? "'" + token.text + "'"
                          : token.kind == Token::kText ? "a text"
                          : token.kind == Token::kEnd  ? "the template's end"
                          : token.kind == Token::kData ? "the tag's end"
                                                       : "an end of the tag";
  refuse(fmt::format("expected {}, got {}", expected, got));
}

ExpressionPtr ExpressionParser::make(Expression::Kind kind, std::string name) const {
  return ExpressionPtr(new Expression{kind, work_.line, std::move(name), {}, {}, {}, {}, 1});
}

ExpressionPtr ExpressionParser::measured(ExpressionPtr made) const {
  for (const auto& part : made->parts) {
    if (part) made->depth = std::max(made->depth, part->depth + 1);
  }
  if (made->depth > kDeepestTree) {
    refuse(fmt::format("an expression of more than {} levels", kDeepestTree));
  }
  return made;
}

ExpressionPtr ExpressionParser::parse_tuple(bool has_conditional) {
  const auto parse = [&] { return has_conditional ? parse_expression() : parse_or(); };
  auto first = parse();
  if (!is_operator(",")) return first;
  auto tuple = make(Expression::kTuple, {}, std::move(first));
  while (skip_operator(",")) {
    const bool ends = is_operator(")") || current().kind == Token::kBlockEnd ||
                      current().kind == Token::kPrintEnd;
    if (ends) break;
    tuple->parts.push_back(parse());
  }
  return measured(std::move(tuple));
}

ExpressionPtr ExpressionParser::parse_conditional() {
  const Level level(*this);
  auto value = parse_or();
  while (skip_word("if")) {
    auto test = parse_or();
    ExpressionPtr otherwise;
    if (skip_word("else")) otherwise = parse_conditional();
    value =
        make(Expression::kConditional, {}, std::move(test), std::move(value), std::move(otherwise));
  }
  return value;
}

ExpressionPtr ExpressionParser::parse_or() {
  auto value = parse_and();
  while (skip_word("or")) {
    value = make(Expression::kOr, {}, std::move(value), parse_and());
  }
  return value;
}

ExpressionPtr ExpressionParser::parse_and() {
  auto value = parse_not();
  while (skip_word("and")) {
    value = make(Expression::kAnd, {}, std::move(value), parse_not());
  }
  return value;
}

ExpressionPtr ExpressionParser::parse_not() {
  if (!skip_word("not")) return parse_compare();
  const Level level(*this);
  return make(Expression::kNot, {}, parse_not());
}

std::string ExpressionParser::comparison() {
  for (const std::string_view sign : {"==", "!=", "<", "<=", ">", ">="}) {
    if (skip_operator(sign)) return std::string(sign);
  }
  if (skip_word("in")) return "in";
  if (is_word("not") && following().kind == Token::kName && following().text == "in") {
    skip();
    skip();
    return "not in";
  }
  return {};
}

ExpressionPtr ExpressionParser::parse_compare() {
  auto first = parse_sum();
  auto sign = comparison();
  if (sign.empty()) return first;
  auto compare = make(Expression::kCompare, {}, std::move(first));
  while (!sign.empty()) {
    compare->operators.push_back(std::move(sign));
    compare->parts.push_back(parse_sum());
    sign = comparison();
  }
  return measured(std::move(compare));
}

ExpressionPtr ExpressionParser::parse_sum() {
  auto value = parse_concat();
  while (is_operator("+") || is_operator("-")) {
    auto sign = current().text;
    skip();
    value = make(Expression::kArithmetic, std::move(sign), std::move(value), parse_concat());
  }
  return value;
}

ExpressionPtr ExpressionParser::parse_concat() {
  auto first = parse_product();
  if (!is_operator("~")) return first;
  auto concat = make(Expression::kConcat, {}, std::move(first));
  while (skip_operator("~")) concat->parts.push_back(parse_product());
  return measured(std::move(concat));
}

ExpressionPtr ExpressionParser::parse_product() {
  auto value = parse_unary(true);
  while (is_operator("*") || is_operator("/") || is_operator("//") || is_operator("%") ||
         is_operator("**")) {
    auto sign = current().text;
    if (sign == "**") refuse("the operator '**' is not supported");
    skip();
    value = make(Expression::kArithmetic, std::move(sign), std::move(value), parse_unary(true));
  }
  return value;
}

ExpressionPtr ExpressionParser::parse_unary(bool with_filters) {
  const Level level(*this);
  ExpressionPtr value;
  if (skip_operator("-")) {
    value = make(Expression::kNegate, {}, parse_unary(false));
  } else {
    skip_operator("+");
    value = parse_primary();
  }
  value = parse_postfix(std::move(value));
  return with_filters ? parse_filters(std::move(value)) : std::move(value);
}

ExpressionPtr ExpressionParser::parse_number() {
  auto number = make(Expression::kConstant);
  const auto& text = current().text;
  const char* const end = text.data() + text.size();
  std::int64_t integer = 0;
  double real = 0;
  if (current().kind == Token::kFloat) {
    std::from_chars(text.data(), end, real);
    number->value = Value(real);
  } else {
    if (std::from_chars(text.data(), end, integer).ec != std::errc()) {
      refuse(fmt::format("the integer {} is too large", text));
    }
    number->value = Value(integer);
  }
  skip();
  return number;
}

ExpressionPtr ExpressionParser::parse_primary() {
  const auto& token = current();
  if (token.kind == Token::kInteger || token.kind == Token::kFloat) return parse_number();
  if (token.kind == Token::kName) {
    auto value = make(Expression::kName, token.text);
    const auto& name = value->name;
    const bool is_true = name == "true" || name == "True";
    if (is_true || name == "false" || name == "False") {
      value->kind = Expression::kConstant;
      value->value = Value(is_true);
    } else if (name == "none" || name == "None") {
      value->kind = Expression::kConstant;
      value->value = Value::none();
    }
    skip();
    return value;
  }
  if (token.kind == Token::kText) {
    auto value = make(Expression::kConstant);
    std::string text;
    for (; current().kind == Token::kText; skip()) text += current().text;
    value->value = Value::text(std::move(text), work_);
    return value;
  }
  if (skip_operator("(")) {
    if (skip_operator(")")) return make(Expression::kTuple);
    auto value = parse_tuple();
    expect_operator(")");
    return value;
  }
  if (is_operator("[")) return parse_list();
  if (is_operator("{")) return parse_dict();
  refuse_current("an expression");
}

ExpressionPtr ExpressionParser::parse_list() {
  auto list = make(Expression::kList);
  skip();
  while (!is_operator("]")) {
    list->parts.push_back(parse_expression());
    if (!is_operator("]")) expect_operator(",");
  }
  skip();
  return measured(std::move(list));
}

ExpressionPtr ExpressionParser::parse_dict() {
  auto dict = make(Expression::kDict);
  skip();
  while (!is_operator("}")) {
    dict->parts.push_back(parse_expression());
    expect_operator(":");
    dict->parts.push_back(parse_expression());
    if (!is_operator("}")) expect_operator(",");
  }
  skip();
  return measured(std::move(dict));
}

ExpressionPtr ExpressionParser::parse_postfix(ExpressionPtr value) {
  for (;;) {
    if (is_operator("(")) {
      auto call = make(Expression::kCall, {}, std::move(value));
      parse_arguments(*call);
      value = measured(std::move(call));
    } else if (skip_operator(".")) {
      if (current().kind == Token::kInteger) {
        value = make(Expression::kItem, {}, std::move(value), parse_number());
      } else {
        auto name = expect_name();
        value = make(Expression::kAttribute, std::move(name), std::move(value));
      }
    } else if (skip_operator("[")) {
      value = parse_subscript(std::move(value));
    } else {
      return value;
    }
  }
}

ExpressionPtr ExpressionParser::parse_subscript(ExpressionPtr value) {
  const auto ends = [this] { return is_operator(":") || is_operator("]"); };
  ExpressionPtr bounds[3];
  if (!ends()) bounds[0] = parse_expression();
  if (bounds[0] && skip_operator("]")) {
    return make(Expression::kItem, {}, std::move(value), std::move(bounds[0]));
  }
  expect_operator(":");
  if (!ends()) bounds[1] = parse_expression();
  if (skip_operator(":") && !ends()) bounds[2] = parse_expression();
  expect_operator("]");
  return make(Expression::kSlice, {}, std::move(value), std::move(bounds[0]), std::move(bounds[1]),
              std::move(bounds[2]));
}

void ExpressionParser::parse_arguments(Expression& call) {
  expect_operator("(");
  while (!is_operator(")")) {
    if (is_operator("*") || is_operator("**")) refuse("arguments by '*' are not supported");
    if (current().kind == Token::kName && following().kind == Token::kOperator &&
        following().text == "=") {
      call.keywords.push_back(expect_name());
      skip();
    } else if (!call.keywords.empty()) {
      refuse("an argument by place behind one by keyword");
    }
    call.parts.push_back(parse_expression());
    if (!is_operator(")")) expect_operator(",");
  }
  skip();
}

ExpressionPtr ExpressionParser::parse_filters(ExpressionPtr value) {
  for (;;) {
    if (skip_operator("|")) {
      auto name = expect_name();
      auto filter = make(Expression::kFilter, std::move(name), std::move(value));
      if (is_operator("(")) parse_arguments(*filter);
      value = measured(std::move(filter));
    } else if (skip_word("is")) {
      value = parse_test(std::move(value));
    } else if (is_operator("(")) {
      value = parse_postfix(std::move(value));
    } else {
      return value;
    }
  }
}

ExpressionPtr ExpressionParser::parse_test(ExpressionPtr value) {
  const bool is_negated = skip_word("not");
  auto name = expect_name();
  auto test = make(Expression::kTest, std::move(name), std::move(value));
  const bool has_value = current().kind == Token::kText || current().kind == Token::kInteger ||
                         current().kind == Token::kFloat || is_operator("[") || is_operator("{") ||
                         (current().kind == Token::kName && !is_word("else") && !is_word("or") &&
                          !is_word("and") && !is_word("if"));
  if (is_operator("(")) {
    parse_arguments(*test);
  } else if (has_value) {
    if (is_word("is")) refuse("a test of a test");
    test->parts.push_back(parse_postfix(parse_primary()));
  }
  test = measured(std::move(test));
  return is_negated ? make(Expression::kNot, {}, std::move(test)) : std::move(test);
}

}  // namespace assay::models::jinja
