// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "models/jinja/parser.h"

namespace assay::models::jinja {
namespace {

class StatementParser : ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  Body parse_all() {
    auto body = parse_body({});
    if (current().kind != Token::kEnd) refuse_tag();
    return body;
  }

 private:
  static Statement statement(Statement::Kind kind, int line) {
    return {kind, line, {}, {}, {}, {}, {}};
  }

  // Up to a tag that is one of `ends` (its word is the current token), or to the template's end.
  Body parse_body(std::initializer_list<std::string_view> ends) {
    const Level level(*this);
    Body body;
    while (current().kind != Token::kEnd) {
      const int line = current().line;
      if (current().kind == Token::kData) {
        body.push_back(statement(Statement::kData, line));
        body.back().text = current().text;
        skip();
      } else if (current().kind == Token::kPrintBegin) {
        skip();
        body.push_back(statement(Statement::kPrint, line));
        body.back().expression = parse_tuple();
        expect(Token::kPrintEnd, "the tag's end");
      } else {
        expect(Token::kBlockBegin, "a tag");
        if (current().kind != Token::kName) refuse_current("a tag's name");
        if (std::ranges::find(ends, current().text) != ends.end()) return body;
        body.push_back(parse_block(line));
      }
    }
    if (ends.size() > 0) refuse(fmt::format("the template ends before '{}'", *(ends.end() - 1)));
    return body;
  }

  [[noreturn]] void refuse_tag() const {
    refuse(fmt::format("the tag '{}' is not supported here", current().text));
  }
  void end_tag() { expect(Token::kBlockEnd, "the tag's end"); }

  Statement parse_block(int line) {
    if (skip_word("if")) return parse_if(line);
    if (skip_word("for")) return parse_for(line);
    if (skip_word("set")) return parse_set(line);
    if (skip_word("macro")) return parse_macro(line);
    if (skip_word("generation")) {
      end_tag();
      auto made = statement(Statement::kGeneration, line);
      made.branches.push_back({nullptr, parse_body({"endgeneration"})});
      skip();
      end_tag();
      return made;
    }
    const bool is_break = is_word("break");
    if (!is_break && !is_word("continue")) refuse_tag();
    if (loops_ == 0) refuse(fmt::format("'{}' outside of a loop", current().text));
    skip();
    end_tag();
    return statement(is_break ? Statement::kBreak : Statement::kContinue, line);
  }

  Statement parse_if(int line) {
    auto made = statement(Statement::kIf, line);
    auto test = parse_tuple();
    for (;;) {
      end_tag();
      const bool is_last = test == nullptr;
      auto body = is_last ? parse_body({"endif"}) : parse_body({"elif", "else", "endif"});
      made.branches.push_back({std::move(test), std::move(body)});
      if (skip_word("elif")) {
        test = parse_tuple();
      } else if (skip_word("else")) {
        test = nullptr;
      } else {
        skip();
        end_tag();
        return made;
      }
    }
  }

  // One name, or several with commas between, perhaps in brackets.
  std::vector<std::string> parse_names() {
    std::vector<std::string> names;
    const bool has_brackets = skip_operator("(");
    do {
      names.push_back(expect_name());
    } while (skip_operator(","));
    if (has_brackets) expect_operator(")");
    return names;
  }

  Statement parse_for(int line) {
    auto made = statement(Statement::kFor, line);
    made.names = parse_names();
    if (!skip_word("in")) refuse_current("'in'");
    made.expression = parse_tuple(false);
    ExpressionPtr test;
    if (skip_word("if")) test = parse_expression();
    if (is_word("recursive")) refuse("loops that are 'recursive' are not supported");
    end_tag();
    ++loops_;
    made.branches.push_back({std::move(test), parse_body({"else", "endfor"})});
    --loops_;
    if (skip_word("else")) {
      end_tag();
      made.branches.push_back({nullptr, parse_body({"endfor"})});
    }
    skip();
    end_tag();
    return made;
  }

  Statement parse_set(int line) {
    auto made = statement(Statement::kSet, line);
    made.names = parse_names();
    if (made.names.size() == 1 && skip_operator(".")) made.names[0] += "." + expect_name();
    if (skip_operator("=")) {
      made.expression = parse_tuple();
      end_tag();
      return made;
    }
    if (is_operator("|")) refuse("filters of a 'set' block are not supported");
    if (made.names.size() > 1) refuse_current("'='");
    end_tag();
    made.kind = Statement::kSetBlock;
    made.branches.push_back({nullptr, parse_body({"endset"})});
    skip();
    end_tag();
    return made;
  }

  Statement parse_macro(int line) {
    auto made = statement(Statement::kMacro, line);
    made.text = expect_name();
    expect_operator("(");
    while (!is_operator(")")) {
      made.names.push_back(expect_name());
      if (skip_operator("=")) {
        made.defaults.push_back(parse_expression());
      } else if (!made.defaults.empty()) {
        refuse("a parameter without a default behind one that has one");
      }
      if (!is_operator(")")) expect_operator(",");
    }
    skip();
    end_tag();
    const int loops = std::exchange(loops_, 0);
    made.branches.push_back({nullptr, parse_body({"endmacro"})});
    loops_ = loops;
    skip();
    end_tag();
    return made;
  }

  int loops_ = 0;  // around what is parsed
};

}  // namespace

Body parse_template(std::string_view source, Work& work) {
  auto tokens = tokens_of(source, work);
  work.line = 1;
  return StatementParser(std::move(tokens), work).parse_all();
}

}  // namespace assay::models::jinja
