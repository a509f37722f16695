// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "models/pt2/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/pt2/promotion.h"
#include "models/pt2/test_archive.h"

namespace assay::models::pt2 {
namespace {

TEST(Expression, ReadsWhatSymPyWrites) {
  const compiler::Bindings values{{"s77", 5}, {"s0", 7}};
  const auto at = [&](const char* text) { return dim_from_expression(text).at(values); };
  EXPECT_EQ(at("Symbol('s77', positive=True, integer=True)"), 5);
  EXPECT_EQ(at("Integer(-3)"), -3);
  EXPECT_EQ(at("Add(Mul(Integer(2), Symbol('s77', integer=True)), Integer(-1))"), 9);
  EXPECT_EQ(at("Pow(Symbol('s0', integer=True), Integer(2))"), 49);
  EXPECT_EQ(at("FloorDiv(Add(Symbol('s0'), Integer(1)), Integer(3))"), 2);
  EXPECT_EQ(at("Mod(Symbol('s0'), Integer(4))"), 3);
  EXPECT_EQ(at("Max(Integer(1), Min(Symbol('s0'), Symbol('s77')))"), 5);
  EXPECT_EQ(at("FloorToInt(IntTrueDiv(Symbol('s77'), Integer(2)))"), 2);
  EXPECT_EQ(at("CeilToInt(IntTrueDiv(Symbol('s77'), Integer(2)))"), 3);
  EXPECT_EQ(at("TruncToInt(IntTrueDiv(Add(Symbol('s77'), Integer(-10)), Integer(2)))"), -2);
  EXPECT_EQ(at("s77"), 5);
  EXPECT_EQ(at("12"), 12);
}

TEST(Expression, RefusesWhatItIsNot) {
  for (const char* text :
       {"", "(", "Integer()", "Integer(x)", "Symbol(s)", "Symbol('s'", "Add(Integer(1)", "Sin(s0)",
        "Pow(s0, s1)", "Pow(s0, Integer(99))", "s0 s1", "Integer(99999999999999999999)",
        "FloorDiv(s0, 0)", "FloorToInt(s0)", "FloorToInt(IntTrueDiv(s0))"}) {
    EXPECT_NE(refusal_text([&] { dim_from_expression(text); }), "") << text;
  }
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "Add(";
  EXPECT_NE(refusal_text([&] { dim_from_expression(deep); }), "");
}

// The table of torch.result_type.
TEST(Promotion, IsThatOfTorch) {
  using enum DType;
  const auto axes = [](DType dtype) { return Typed{dtype, Rank::kAxes}; };
  const auto none = [](DType dtype) { return Typed{dtype, Rank::kNoAxes}; };
  const auto number = [](DType dtype) { return Typed{dtype, Rank::kNumber}; };
  const auto of = [](std::vector<Typed> typed) { return result_type(typed); };
  EXPECT_EQ(of({axes(kF16), axes(kBF16)}), kF32);
  EXPECT_EQ(of({axes(kI64), axes(kBF16)}), kBF16);
  EXPECT_EQ(of({axes(kI32), axes(kI64)}), kI64);
  EXPECT_EQ(of({axes(kBool), axes(kBool)}), kBool);
  EXPECT_EQ(of({axes(kBF16), none(kF32)}), kBF16);
  EXPECT_EQ(of({axes(kI32), none(kF64)}), kF64);
  EXPECT_EQ(of({axes(kI32), none(kI64)}), kI32);
  EXPECT_EQ(of({axes(kBF16), number(kF32)}), kBF16);
  EXPECT_EQ(of({axes(kI32), number(kF32)}), kF32);
  EXPECT_EQ(of({axes(kBool), number(kI64)}), kI64);
  EXPECT_EQ(of({none(kF64), number(kF32)}), kF64);
  EXPECT_EQ(of({number(kI64), number(kBool)}), kI64);
}

}  // namespace
}  // namespace assay::models::pt2
