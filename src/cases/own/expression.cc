// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/expression.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "base/error.h"
#include "tensor/dtype.h"

namespace assay::cases::own {
namespace {

constexpr std::size_t kLongestExpression = 500;
constexpr int kDeepestNesting = 50;

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<DType> dtype_named(const std::string& name) {
  try {
    return dtype_from_name(name, "");
  } catch (const UserError&) {
    return std::nullopt;
  }
}

}  // namespace

// Turns text into steps. The text is short and nesting is counted, so that recursion ends.
class ExpressionParser {
 public:
  explicit ExpressionParser(Expression& out) : out_(out), text_(out.text_) {}

  void parse() {
    if (text_.size() > kLongestExpression) {
      fail("an expression has at most {} characters, got {}", kLongestExpression, text_.size());
    }
    sum();
    skip_spaces();
    if (at_ < text_.size()) out_.fail_at(at_, fmt::format("unexpected '{}'", character()));
  }

 private:
  using Op = Expression::Op;

  // The one at hand, whole where it has several bytes.
  std::string_view character() const {
    auto end = at_ + 1;
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0) == 0x80) ++end;
    return std::string_view(text_).substr(at_, end - at_);
  }

  void sum() {
    if (++depth_ > kDeepestNesting) out_.fail_at(at_, "nested too deeply");
    product();
    for (;;) {
      const std::size_t at = next_at();
      if (take("+")) {
        product();
        emit(Op::kAdd, at);
      } else if (take("-")) {
        product();
        emit(Op::kSubtract, at);
      } else {
        break;
      }
    }
    --depth_;
  }

  void product() {
    factor();
    for (;;) {
      const std::size_t at = next_at();
      if (take("*")) {
        factor();
        emit(Op::kMultiply, at);
      } else if (take("//")) {
        factor();
        emit(Op::kFloorDivide, at);
      } else if (take("%")) {
        factor();
        emit(Op::kRemainder, at);
      } else if (take("/")) {
        if (out_.kind_ == Expression::Kind::kInteger) {
          out_.fail_at(at, "an integer expression divides by //");
        }
        factor();
        emit(Op::kDivide, at);
      } else {
        break;
      }
    }
  }

  void factor() {
    const std::size_t at = next_at();
    int signs = 0;
    while (take("-")) ++signs;
    skip_spaces();
    if (at_ >= text_.size()) out_.fail_at(at_, "a number, a parameter or '(' is missing");
    if (is_digit(text_[at_]) || text_[at_] == '.') {
      number();
    } else if (begins_name(text_[at_])) {
      named();
    } else if (take("(")) {
      sum();
      expect(")");
    } else {
      out_.fail_at(at_, fmt::format("unexpected '{}'", character()));
    }
    if (signs % 2 != 0) emit(Op::kNegate, at);
  }

  void number() {
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    Expression::Step step{Op::kNumber, at_};
    std::from_chars_result read{};
    if (out_.kind_ == Expression::Kind::kInteger) {
      read = std::from_chars(begin, end, step.whole);
    } else {
      read = std::from_chars(begin, end, step.number);
    }
    if (read.ec != std::errc() ||
        (read.ptr != end && (begins_name(*read.ptr) || *read.ptr == '.'))) {
      out_.fail_at(at_, out_.kind_ == Expression::Kind::kInteger
                            ? "not an integer that fits 63 bits"
                            : "not a number");
    }
    at_ = static_cast<std::size_t>(read.ptr - text_.data());
    out_.steps_.push_back(std::move(step));
  }

  void named() {
    const std::size_t at = at_;
    const auto name = word();
    if ((name == "min" || name == "max") && take("(")) {
      sum();
      while (take(",")) {
        sum();
        emit(name == "min" ? Op::kMin : Op::kMax, at);
      }
      expect(")");
    } else if (name == "size" && take("(")) {
      skip_spaces();
      const std::size_t of = at_;
      const auto dtype = word();
      if (dtype.empty()) out_.fail_at(of, "size() takes a dtype or a parameter that is one");
      out_.steps_.push_back({Op::kSize, of, 0, 0, dtype});
      if (!dtype_named(dtype)) asks_for(dtype);
      expect(")");
    } else {
      out_.steps_.push_back({Op::kParameter, at, 0, 0, name});
      asks_for(name);
    }
  }

  std::string word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (begins_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  void asks_for(const std::string& name) {
    auto& names = out_.parameters_;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  std::size_t next_at() {
    skip_spaces();
    return at_;
  }
  bool take(std::string_view symbol) {
    skip_spaces();
    if (!std::string_view(text_).substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!take(symbol)) out_.fail_at(at_, fmt::format("'{}' is missing", symbol));
  }
  void emit(Op op, std::size_t at) { out_.steps_.push_back({op, at}); }

  Expression& out_;
  const std::string& text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Expression::Expression() : Expression("0") {}

Expression::Expression(std::string text, Kind kind) : text_(std::move(text)), kind_(kind) {
  ExpressionParser(*this).parse();
}

void Expression::fail_at(std::size_t at, const std::string& what) const {
  fail("expression '{}', character {}: {}", text_, at + 1, what);
}

template <typename Number>
Number Expression::evaluate(const Json& point) const {
  constexpr bool kWhole = std::is_integral_v<Number>;
  std::vector<Number> stack;
  const auto value_of = [&](const Step& step) -> Json {
    const auto it = point.find(step.name);
    if (it == point.end()) fail_at(step.at, fmt::format("no parameter '{}'", step.name));
    return *it;
  };
  for (const auto& step : steps_) {
    switch (step.op) {
      case Op::kNumber:
        stack.push_back(kWhole ? static_cast<Number>(step.whole)
                               : static_cast<Number>(step.number));
        continue;
      case Op::kParameter: {
        const Json value = value_of(step);
        if (!value.is_number_integer()) {
          fail_at(step.at,
                  fmt::format("parameter '{}' is no number: {}", step.name, canonical_json(value)));
        }
        stack.push_back(static_cast<Number>(value.get<std::int64_t>()));
        continue;
      }
      case Op::kSize: {
        auto dtype = dtype_named(step.name);
        if (!dtype) {
          const Json value = value_of(step);
          if (value.is_string()) dtype = dtype_named(value.get<std::string>());
          if (!dtype) {
            fail_at(step.at, fmt::format("'{}' is no dtype: {}", step.name, canonical_json(value)));
          }
        }
        stack.push_back(static_cast<Number>(size_of(*dtype)));
        continue;
      }
      case Op::kNegate: {
        Number& top = stack.back();
        if constexpr (kWhole) {
          if (__builtin_sub_overflow(Number{0}, top, &top))
            fail_at(step.at, "does not fit 63 bits");
        } else {
          top = -top;
        }
        continue;
      }
      default:
        break;
    }
    const Number b = stack.back();
    stack.pop_back();
    Number& a = stack.back();
    const bool divides =
        step.op == Op::kFloorDivide || step.op == Op::kRemainder || step.op == Op::kDivide;
    if (divides && b == 0) fail_at(step.at, "division by zero");
    bool overflows = false;
    switch (step.op) {
      case Op::kAdd:
        if constexpr (kWhole)
          overflows = __builtin_add_overflow(a, b, &a);
        else
          a += b;
        break;
      case Op::kSubtract:
        if constexpr (kWhole)
          overflows = __builtin_sub_overflow(a, b, &a);
        else
          a -= b;
        break;
      case Op::kMultiply:
        if constexpr (kWhole)
          overflows = __builtin_mul_overflow(a, b, &a);
        else
          a *= b;
        break;
      case Op::kFloorDivide:
        if constexpr (kWhole) {
          overflows = a == std::numeric_limits<Number>::min() && b == -1;
          if (!overflows) a = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
        } else {
          a = std::floor(a / b);
        }
        break;
      case Op::kRemainder:
        if constexpr (kWhole) {
          a = b == -1 ? 0 : a % b;
        } else {
          a = std::fmod(a, b);
        }
        if (a != 0 && (a < 0) != (b < 0)) a += b;
        break;
      case Op::kDivide:
        a /= b;
        break;
      case Op::kMin:
        a = std::min(a, b);
        break;
      case Op::kMax:
        a = std::max(a, b);
        break;
      default:
        throw InternalError("operations on one operand are done above");
    }
    if (overflows) fail_at(step.at, "does not fit 63 bits");
    if constexpr (!kWhole) {
      if (!std::isfinite(a)) fail_at(step.at, "not a finite number");
    }
  }
  check(stack.size() == 1, "an expression has one value");
  return stack.back();
}

std::int64_t Expression::integer(const Json& point) const {
  check(kind_ == Kind::kInteger, "a real expression has no integer value");
  return evaluate<std::int64_t>(point);
}

double Expression::real(const Json& point) const {
  return kind_ == Kind::kReal ? evaluate<double>(point)
                              : static_cast<double>(evaluate<std::int64_t>(point));
}

}  // namespace assay::cases::own
