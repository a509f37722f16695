// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a case file computes from a point's parameters: extents, bounds, work.
//
//   sum     = product { ("+" | "-") product }
//   product = factor { ("*" | "//" | "%") factor }          (real expressions also "/")
//   factor  = ["-"] ( number | parameter | "(" sum ")" | ("min" | "max") "(" sum {"," sum} ")"
//             | "size" "(" parameter or dtype ")" )
//
// `//` and `%` round down, as in Python. Every operation is checked: nothing wraps round.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay::cases::own {

class Expression {
 public:
  enum class Kind { kInteger, kReal };  // real ones take numbers with a fraction, and "/"

  // The integer 0.
  Expression();
  // Throws UserError that quotes the text and says where in it the error is.
  explicit Expression(std::string text, Kind kind = Kind::kInteger);

  const std::string& text() const { return text_; }
  // The names that it asks a point for, each once, as written; dtypes by name are not among them.
  const std::vector<std::string>& parameters() const { return parameters_; }

  // Its value at a point, an object of integers and words. Throws UserError that quotes the text:
  // a parameter that is not there or is a word, a result that does not fit 63 bits, a division by
  // zero; of real expressions, one that is not finite.
  std::int64_t integer(const Json& point) const;
  double real(const Json& point) const;

 private:
  enum class Op : std::uint8_t {
    kNumber,
    kParameter,
    kSize,
    kNegate,
    kAdd,
    kSubtract,
    kMultiply,
    kFloorDivide,
    kRemainder,
    kDivide,
    kMin,
    kMax
  };
  // One step of a stack machine: operands are below it on the stack.
  struct Step {
    Op op;
    std::size_t at;          // where in the text
    std::int64_t whole = 0;  // kNumber of an integer expression
    double number = 0;       // kNumber of a real one
    std::string name;        // kParameter, kSize
  };
  friend class ExpressionParser;
  template <typename Number>
  Number evaluate(const Json& point) const;
  [[noreturn]] void fail_at(std::size_t at, const std::string& what) const;

  std::string text_;
  Kind kind_ = Kind::kInteger;
  std::vector<Step> steps_;
  std::vector<std::string> parameters_;
};

}  // namespace assay::cases::own
