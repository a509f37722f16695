// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/quick_json.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "base/json.h"
#include "lab/record/row.h"

namespace assay::lab {
namespace {

// Also that numbers are of one kind, which == does not tell, but for -0: a signed integer to one of
// the two and an unsigned one to the other.
bool same(const Json& a, const Json& b) {
  if (a == 0 && b == 0 && a.is_number_integer() && b.is_number_integer()) return true;
  if (a.type() != b.type() || a.size() != b.size()) return false;
  if (a.is_structured()) {
    for (auto x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y) {
      if (a.is_object() && x.key() != y.key()) return false;
      if (!same(*x, *y)) return false;
    }
    return true;
  }
  return a == b && canonical_json(a) == canonical_json(b);
}

// Whether the text is read quickly; what is read is what the other reads.
bool is_quick(const std::string& text) {
  const auto quick = quick_json(text);
  if (!quick) return false;
  try {
    EXPECT_TRUE(same(*quick, parse_json(text, "text"))) << text;
  } catch (const UserError& error) {
    ADD_FAILURE() << text << " is refused: " << error.what();
  }
  return true;
}

TEST(QuickJson, ReadsWhatRowsHave) {
  for (const char* text :
       {"{}", "[]", "null", "true", "\"a\"",
        " [1, -1, 0, 9223372036854775807, 9223372036854775808]", "18446744073709551615",
        "-9223372036854775808", "[0.1,1e-300,5e-324,1.7976931348623157e308]", "[-0.0,1E5,2.5e+3]",
        R"({"b":{"a":[[],{}]},"a":"\"\\\/\b\f\n\r\t","ä€😀":"ä€😀"})",
        R"({"b":1,"a":{"b":2},"c":[{"a":3}]})"}) {
    EXPECT_TRUE(is_quick(text)) << text;
  }
  EXPECT_TRUE(is_quick(row_to_line(Row{})));
}

TEST(QuickJson, LeavesTheRestToTheOther) {
  for (const std::string text : {"",
                                 " ",
                                 "{",
                                 "[1,]",
                                 "01",
                                 "1.",
                                 ".5",
                                 "+1",
                                 "nan",
                                 "\"\t\"",
                                 "\"\xff\"",
                                 "\"\xed\xa0\x80\"",
                                 "{\"a\":1}}",
                                 "1e400",
                                 "18446744073709551616",
                                 R"("\ud800")",
                                 R"("\udc00")",
                                 R"("\u0000")",
                                 "'a'",
                                 "{a:1}",
                                 "[1 2]",
                                 R"({"a":1,"b":2,"a":3})",
                                 R"({"a":1,"a":1})",
                                 R"([{"b":{"a":[],"a":[]}}])",
                                 "\xef\xbb\xbf[]"}) {
    EXPECT_FALSE(is_quick(text)) << text;
  }
  EXPECT_FALSE(quick_json(std::string("\"a\0b\"", 5)));
  EXPECT_TRUE(is_quick(std::string(90, '[') + std::string(90, ']')));
  EXPECT_FALSE(is_quick(std::string(150, '[') + std::string(150, ']')));
  EXPECT_FALSE(is_quick(std::string(1'000'000, '[')));
}

TEST(QuickJson, AgreesOnTextsThatWereSpoilt) {
  std::mt19937 random(1);
  const std::string whole =
      R"({"a":[1,-2,3.25e-7,"x\n\"é",true,null,{"b":{},"c":[]}],"b":1e22,"c":-0.0,"d":12345678901234567890})";
  constexpr std::string_view kPieces = "{}[]\",:\\0123456789.eE+-tfn \x80\xc3\xa9\xf0/u";
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto text = whole;
    for (auto left = 1 + random() % 3; left > 0; --left) {
      const auto at = random() % text.size();
      const char piece = kPieces[random() % kPieces.size()];
      switch (random() % 3) {
        case 0:
          text[at] = piece;
          break;
        case 1:
          text.erase(at, 1);
          break;
        default:
          text.insert(at, 1, piece);
      }
    }
    read += is_quick(text);
  }
  EXPECT_GT(read, 1000);
  EXPECT_LT(read, 19'000);
}

}  // namespace
}  // namespace assay::lab
