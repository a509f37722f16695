// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cases/own/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::cases::own {
namespace {

using testing::HasSubstr;

const Json kExamplePoint = {{"rows", 6}, {"columns", -4}, {"dtype", "f32"}, {"word", "blue"}};

std::int64_t value(const std::string& text) { return Expression(text).integer(kExamplePoint); }

std::string error_of(const std::string& text, Expression::Kind kind = Expression::Kind::kInteger) {
  try {
    const Expression expression(text, kind);
    kind == Expression::Kind::kInteger ? static_cast<void>(expression.integer(kExamplePoint))
                                       : static_cast<void>(expression.real(kExamplePoint));
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Expression, BindsAsArithmeticDoes) {
  EXPECT_EQ(value("2 + 3 * 4"), 14);
  EXPECT_EQ(value("(2 + 3) * 4"), 20);
  EXPECT_EQ(value("20 - 3 - 4"), 13);
  EXPECT_EQ(value("rows*rows-1"), 35);
  EXPECT_EQ(value("--rows"), 6);
  EXPECT_EQ(value("2 - -rows * 2"), 14);
  EXPECT_EQ(value("min(rows, 3, 9) + max(columns, -7)"), -1);
  EXPECT_EQ(value("size(dtype) * size(f64) * size(bool)"), 32);
}

TEST(Expression, DividesAsPythonDoes) {
  EXPECT_EQ(value("7 // 2"), 3);
  EXPECT_EQ(value("-7 // 2"), -4);
  EXPECT_EQ(value("7 // -2"), -4);
  EXPECT_EQ(value("-7 % 3"), 2);
  EXPECT_EQ(value("7 % -3"), -2);
  EXPECT_EQ(value("-6 % 3"), 0);
}

TEST(Expression, RealOnesHaveFractions) {
  const auto real = [](const std::string& text) {
    return Expression(text, Expression::Kind::kReal).real(kExamplePoint);
  };
  EXPECT_EQ(real("2.5 * rows / 4"), 3.75);
  EXPECT_EQ(real("1e3 + 7 // 2"), 1003);
  EXPECT_EQ(real("-7.5 % 2"), 0.5);
  EXPECT_EQ(Expression("rows").real(kExamplePoint), 6);
}

TEST(Expression, NamesWhatItAsksFor) {
  EXPECT_EQ(Expression("rows * size(dtype) + rows * size(f32)").parameters(),
            (std::vector<std::string>{"rows", "dtype"}));
}

TEST(Expression, ErrorsSayWhere) {
  EXPECT_THAT(error_of("rows +"), HasSubstr("'rows +', character 7: a number"));
  EXPECT_THAT(error_of(""), HasSubstr("character 1"));
  EXPECT_THAT(error_of("rows columns"), HasSubstr("character 6: unexpected 'c'"));
  EXPECT_THAT(error_of("(rows"), HasSubstr("')' is missing"));
  EXPECT_THAT(error_of("rows / 2"), HasSubstr("//"));
  EXPECT_THAT(error_of("1.5"), HasSubstr("not an integer"));
  EXPECT_THAT(error_of("3x"), HasSubstr("not an integer"));
  EXPECT_THAT(error_of("99999999999999999999"), HasSubstr("63 bits"));
  EXPECT_THAT(error_of("height"), HasSubstr("no parameter 'height'"));
  EXPECT_THAT(error_of("word + 1"), HasSubstr("no number: \"blue\""));
  EXPECT_THAT(error_of("size(word)"), HasSubstr("no dtype: \"blue\""));
  EXPECT_THAT(error_of("size()"), HasSubstr("size() takes"));
  EXPECT_THAT(error_of("size(rows)"), HasSubstr("no dtype: 6"));
  EXPECT_THAT(error_of("min()"), HasSubstr("unexpected ')'"));
  EXPECT_THAT(error_of("import os"), HasSubstr("unexpected 'o'"));
  EXPECT_THAT(error_of("1e999", Expression::Kind::kReal), HasSubstr("not a number"));
}

TEST(Expression, NothingWrapsRound) {
  EXPECT_THAT(error_of("9223372036854775807 + 1"), HasSubstr("63 bits"));
  EXPECT_THAT(error_of("3037000500 * 3037000500"), HasSubstr("63 bits"));
  EXPECT_THAT(error_of("-9223372036854775807 - 2"), HasSubstr("63 bits"));
  EXPECT_THAT(error_of("(-9223372036854775807 - 1) // -1"), HasSubstr("63 bits"));
  EXPECT_THAT(error_of("-(-9223372036854775807 - 1)"), HasSubstr("63 bits"));
  EXPECT_EQ(value("(-9223372036854775807 - 1) % -1"), 0);
  EXPECT_THAT(error_of("rows // (rows - 6)"), HasSubstr("division by zero"));
  EXPECT_THAT(error_of("rows % 0"), HasSubstr("division by zero"));
  EXPECT_THAT(error_of("1e308 * 10", Expression::Kind::kReal), HasSubstr("finite"));
}

TEST(Expression, IsBounded) {
  EXPECT_THAT(error_of(std::string(200, '(')), HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of(std::string(100'000, '(')), HasSubstr("at most 500 characters"));
  EXPECT_EQ(value(std::string(40, '(') + "rows" + std::string(40, ')')), 6);
}

}  // namespace
}  // namespace assay::cases::own
