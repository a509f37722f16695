// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/given_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::compiler {
namespace {

// One input, x, of that shape; s is from 2 to 100, t from 0 to 9.
Graph taking(const std::vector<Dim>& shape) {
  Graph graph;
  graph.symbol("s", 2, 100);
  graph.symbol("t", 0, 9);
  graph.add({.op = Op::kInput, .dtype = DType::kF32, .shape = shape, .name = "x"});
  return graph;
}

Bindings said(const std::vector<Dim>& declared, const Shape& given) {
  Bindings known;
  GivenSizes(taking(declared)).add_shape("x", given, known);
  return known;
}

class GivenSizesTest : public testing::Test {
 protected:
  const Dim s = Dim::symbol("s"), t = Dim::symbol("t");
};

TEST_F(GivenSizesTest, ExtentsThatAreLinesDecide) {
  EXPECT_EQ(said({s, 4}, Shape({7, 4})), (Bindings{{"s", 7}}));
  EXPECT_EQ(said({3 * s + 1}, Shape({16})), (Bindings{{"s", 5}}));
  EXPECT_EQ(said({100 - s, t}, Shape({90, 0})), (Bindings{{"s", 10}, {"t", 0}}));
}

TEST_F(GivenSizesTest, OthersSayNothing) {
  EXPECT_TRUE(said({2 * s}, Shape({7})).empty());  // nothing is twice s there: shapes differ
  EXPECT_TRUE(said({s * t}, Shape({8})).empty());
  EXPECT_TRUE(said({s * s}, Shape({9})).empty());
  EXPECT_TRUE(said({floor_div(s, 2)}, Shape({8})).empty());
  EXPECT_TRUE(said({floor_mod(s, 8)}, Shape({3})).empty());
  EXPECT_TRUE(said({(std::int64_t{1} << 57) * s}, Shape({3})).empty());
  EXPECT_TRUE(said({4, s}, Shape({4})).empty());  // another rank
}

TEST_F(GivenSizesTest, NumbersDecideToo) {
  const GivenSizes sizes(taking({4}));
  Bindings known;
  sizes.add("s", 20, "length", known);
  sizes.add("unknown", 1, "other", known);
  sizes.add_value(2 * t, 6, "pairs", known);
  EXPECT_EQ(known, (Bindings{{"s", 20}, {"t", 3}}));
}

TEST_F(GivenSizesTest, ContradictionsAreNamed) {
  const auto refusal = [](const std::vector<Dim>& declared, const Shape& given) -> std::string {
    try {
      said(declared, given);
    } catch (const UserError& e) {
      return e.what();
    }
    return {};
  };
  EXPECT_EQ(refusal({s}, Shape({1})), "'x' makes s 1, which is from 2 to 100");
  EXPECT_EQ(refusal({t}, Shape({10})), "'x' makes t 10, which is from 0 to 9");
  EXPECT_EQ(refusal({s, s}, Shape({4, 5})), "s is 4 already, 'x' makes it 5");
}

}  // namespace
}  // namespace assay::compiler
