// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/expression.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "base/error.h"

namespace assay::models::pt2 {
namespace {

using compiler::Dim;

constexpr int kDeepest = 60;
constexpr std::int64_t kHighestPower = 8;

class ExpressionReader {
 public:
  explicit ExpressionReader(std::string_view text) : text_(text) {}

  Dim whole() {
    const auto dim = expression(0);
    skip_spaces();
    if (at_ != text_.size()) wrong("text after it");
    return dim;
  }

 private:
  [[noreturn]] void wrong(std::string_view why) const {
    fail("an expression of sizes: {} at {} of '{}'", why, at_, text_.substr(0, 200));
  }
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool skip(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!skip(c)) wrong(std::string("expected '") + c + "'");
  }
  std::string_view word() {
    skip_spaces();
    const auto begin = at_;
    const auto is_part = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '-' || c == '.';
    };
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    if (begin == at_) wrong("expected a name");
    return text_.substr(begin, at_ - begin);
  }
  std::int64_t integer(std::string_view digits) const {
    std::int64_t value = 0;
    const auto* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value);
    if (read.ptr != end || read.ec != std::errc()) wrong("expected a number of 64 bits");
    return value;
  }

  Dim expression(int depth) {
    if (depth > kDeepest) wrong("nested too deeply");
    const auto name = word();
    if (!skip('(')) {
      // Also without srepr: "s77", "4".
      const char first = name[0];
      return first == '-' || (first >= '0' && first <= '9') ? Dim(integer(name))
                                                            : Dim::symbol(name);
    }
    if (name == "Integer") {
      const Dim value = integer(word());
      expect(')');
      return value;
    }
    if (name == "Symbol") return symbol();
    const auto function = function_of(name);
    if (function == "FloorToInt" || function == "CeilToInt" || function == "TruncToInt") {
      const auto value = whole_quotient(function, depth + 1);
      expect(')');
      return value;
    }
    std::vector<Dim> operands;
    do operands.push_back(expression(depth + 1));
    while (skip(','));
    expect(')');
    return combined(std::string(function), operands);
  }

  // Without the module that it is in.
  static std::string_view function_of(std::string_view name) {
    return name.substr(name.rfind('.') + 1);
  }

  // After "FloorToInt(": "IntTrueDiv(a, b)", of which it is a whole number.
  Dim whole_quotient(std::string_view rounding, int depth) {
    if (function_of(word()) != "IntTrueDiv") {
      wrong("only of IntTrueDiv: " + std::string(rounding));
    }
    expect('(');
    const auto a = expression(depth);
    expect(',');
    const auto b = expression(depth);
    expect(')');
    if (rounding == "FloorToInt") return floor_div(a, b);
    if (rounding == "CeilToInt") return floor_div(a * -1, b) * -1;
    return floor_div(max(a, 0), b) - floor_div(max(a * -1, 0), b);
  }

  // After "Symbol(": its name, then what is assumed of it.
  Dim symbol() {
    const char quote = skip('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const auto name = word();
    expect(quote);
    while (skip(',')) {
      word();
      expect('=');
      word();
    }
    expect(')');
    return Dim::symbol(name);
  }

  Dim combined(const std::string& name, const std::vector<Dim>& operands) const {
    const bool is_pair = operands.size() == 2;
    Dim value = operands[0];
    const auto folded = [&](auto&& f) {
      for (std::size_t i = 1; i < operands.size(); ++i) value = f(value, operands[i]);
      return value;
    };
    if (name == "Add") return folded([](const Dim& a, const Dim& b) { return a + b; });
    if (name == "Mul") return folded([](const Dim& a, const Dim& b) { return a * b; });
    if (name == "Max") return folded([](const Dim& a, const Dim& b) { return max(a, b); });
    if (name == "Min") return folded([](const Dim& a, const Dim& b) { return min(a, b); });
    if (is_pair && (name == "FloorDiv" || name == "CleanDiv")) {
      return floor_div(operands[0], operands[1]);
    }
    if (is_pair && (name == "Mod" || name == "PythonMod")) {
      return floor_mod(operands[0], operands[1]);
    }
    const auto power = is_pair ? operands[1].constant().value_or(-1) : -1;
    if ((name == "Pow" || name == "PowByNatural") && power >= 0 && power <= kHighestPower) {
      value = 1;
      for (std::int64_t i = 0; i < power; ++i) value *= operands[0];
      return value;
    }
    wrong("unknown: " + name);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Dim dim_from_expression(std::string_view text) { return ExpressionReader(text).whole(); }

}  // namespace assay::models::pt2
