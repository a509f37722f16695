// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/dimension.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/philox.h"

namespace assay::compiler {
namespace {

class DimTest : public testing::Test {
 protected:
  const Dim s = Dim::symbol("s"), p = Dim::symbol("p");
};

TEST_F(DimTest, EqualPolynomialsAreEqual) {
  EXPECT_EQ((s + p) * (s + p), s * s + 2 * p * s + p * p);
  EXPECT_EQ(s - s, 0);
  EXPECT_EQ((s + 1) * 128 - 128, 128 * s);
  EXPECT_NE(s, p);
  EXPECT_EQ((s + p).to_string(), "p + s");
  EXPECT_EQ((3 * s * p - 2).to_string(), "3*p*s - 2");
  EXPECT_EQ((-1 * s).to_string(), "-s");
}

TEST_F(DimTest, QuotientsAndRemainders) {
  EXPECT_EQ(floor_div(128 * s + 64 * p, 64), 2 * s + p);
  EXPECT_EQ(floor_div(128 * s + 3, 128), s);
  EXPECT_EQ(floor_mod(128 * s + 3, 128), 3);
  EXPECT_EQ(floor_div(s * p, s), p);
  EXPECT_EQ(floor_div(24 * s, 2 * s), 12);
  EXPECT_EQ(floor_div(3 * s, 2 * s).to_string(), "floor(3*s, 2*s)");
  EXPECT_EQ(floor_mod(s * p, s), 0);
  EXPECT_EQ(floor_div(s, s), 1);
  EXPECT_EQ(floor_div(Dim(-7), 2), -4);
  EXPECT_EQ(floor_mod(Dim(-7), 2), 1);
  EXPECT_EQ(floor_div(s + 3, 4).to_string(), "floor(s + 3, 4)");
  EXPECT_EQ(floor_div(s + 7, 4), floor_div(s + 3, 4) + 1);
  EXPECT_THROW(floor_div(s, 0), UserError);
  EXPECT_THROW(floor_mod(s, Dim(-2)), UserError);
}

TEST_F(DimTest, ValuesBoundsAndTextAgree) {
  const Symbols symbols = {{"s", {1, 9}}, {"p", {-3, 4}}};
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Philox random(seed);
    std::uint64_t at = 0;
    const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random[at++] % n); };
    Dim dim = s;
    std::vector<std::pair<int, std::int64_t>> made;
    const auto value_at = [&](const Bindings& b) {  // the same steps on numbers
      std::int64_t v = b.at("s");
      for (const auto& [what, n] : made) {
        const auto floor_of = [](std::int64_t a, std::int64_t by) {
          return (a - ((a % by) + by) % by) / by;
        };
        switch (what) {
          case 0:
            v += n;
            break;
          case 1:
            v *= n;
            break;
          case 2:
            v += b.at("p");
            break;
          case 3:
            v *= b.at("p");
            break;
          case 4:
            v = floor_of(v, n);
            break;
          case 5:
            v -= floor_of(v, n) * n;
            break;
          case 6:
            v = std::min(v, b.at("p"));
            break;
          default:
            v = std::max(v, n);
            break;
        }
      }
      return v;
    };
    for (int i = 0; i < 6; ++i) {
      const auto what = static_cast<int>(below(8));
      const auto n = what == 4 || what == 5 ? 1 + below(6) : below(9) - 4;
      made.emplace_back(what, n);
      switch (what) {
        case 0:
          dim = dim + n;
          break;
        case 1:
          dim = dim * n;
          break;
        case 2:
          dim = dim + p;
          break;
        case 3:
          dim = dim * p;
          break;
        case 4:
          dim = floor_div(dim, n);
          break;
        case 5:
          dim = floor_mod(dim, n);
          break;
        case 6:
          dim = min(dim, p);
          break;
        default:
          dim = max(dim, n);
          break;
      }
    }
    EXPECT_EQ(Dim::parse(dim.to_string()), dim) << dim.to_string();
    const auto range = dim.range(symbols);
    for (std::int64_t sv = 1; sv <= 9; ++sv) {
      for (std::int64_t pv = -3; pv <= 4; ++pv) {
        const Bindings b = {{"s", sv}, {"p", pv}};
        ASSERT_EQ(dim.at(b), value_at(b)) << dim.to_string() << " seed " << seed;
        EXPECT_GE(dim.at(b), range.low) << dim.to_string();
        EXPECT_LE(dim.at(b), range.high) << dim.to_string();
      }
    }
  }
}

TEST_F(DimTest, BeyondSixtyFourBitsIsRefused) {
  const Dim big = std::int64_t{1} << 62;
  EXPECT_THROW(big * 4, UserError);
  EXPECT_THROW(big + big, UserError);
  EXPECT_THROW((s * s).at({{"s", std::int64_t{1} << 40}}), UserError);
  EXPECT_EQ((big * s).range({{"s", {0, 100}}}).high, std::numeric_limits<std::int64_t>::max());
}

TEST_F(DimTest, WhatNobodyMeansIsRefusedBeforeItTakesLong) {
  const auto power = [](int exponent, const std::string& base) {
    auto text = base;
    for (int i = 1; i < exponent; ++i) text += "*" + base;
    return text;
  };
  EXPECT_EQ(Dim::parse(power(3, "(a + b)")).to_string(), "a*a*a + 3*a*a*b + 3*a*b*b + b*b*b");
  // Each names the one before it three times.
  std::string nested = "s";
  for (int i = 0; i < 9; ++i) nested = power(2, "(min(p, " + nested + ") + s)");
  for (const auto& text : {power(16, "(a + b + c + d + e + f)"), power(100'000, "s"), nested}) {
    try {
      Dim::parse(text);
      FAIL() << text.substr(0, 40);
    } catch (const UserError& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("more than 4096 characters"));
    }
  }
}

TEST_F(DimTest, WhatIsNoDimensionIsRefused) {
  for (const char* text : {"", "s +", "2s", "s**p", "(s", "s)", "floor(s)", "floor(s,", "up(s, 2)",
                           "1 2", "99999999999999999999", "floor", "s-+"}) {
    EXPECT_THROW(Dim::parse(text), UserError) << text;
  }
  EXPECT_THROW(Dim::symbol("1s"), UserError);
  EXPECT_THROW(Dim::symbol("floor"), UserError);
  EXPECT_THROW(s.at({}), UserError);
  EXPECT_THROW(s.range({}), UserError);
}

}  // namespace
}  // namespace assay::compiler
