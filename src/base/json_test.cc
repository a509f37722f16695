// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace assay {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    parse_json(text, "point");
  } catch (const UserError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Json, CanonicalFormSortsKeysAndKeepsEveryDigit) {
  const Json value =
      parse_json(R"( {"b": 0.1, "a": [1, 1.0, -0.0, 1e300, 5e-324], "ü": "é"} )", "t");
  EXPECT_EQ(canonical_json(value), R"({"a":[1,1.0,-0.0,1e+300,5e-324],"b":0.1,"ü":"é"})");
  EXPECT_EQ(canonical_json(parse_json(canonical_json(value), "t")), canonical_json(value));
}

TEST(Json, DoublesSurviveARoundTrip) {
  for (double x :
       {1.0 / 3, 0.1 + 0.2, 1.7976931348623157e308, 2.2250738585072014e-308, 123456789.123456789}) {
    EXPECT_EQ(parse_json(canonical_json(Json(x)), "t").get<double>(), x);
  }
}

TEST(Json, RefusesWhatTheLibraryWouldLetPass) {
  EXPECT_THAT(refusal(R"({"n":1,"n":2})"), HasSubstr("repeated key \"n\""));
  EXPECT_EQ(refusal(R"([{"n":1},{"n":2}])"), "accepted");
  EXPECT_THAT(refusal(std::string(100'000, '[')), HasSubstr("nested deeper"));
  EXPECT_THAT(refusal("{} x"), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal(""), HasSubstr("point: not valid JSON"));
  EXPECT_THAT(refusal("1e999"), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal("\"\xff\""), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal("NaN"), HasSubstr("not valid JSON"));
}

TEST(Json, NonFiniteNumbersAreStrings) {
  EXPECT_EQ(number_to_json(NAN), "nan");
  EXPECT_EQ(number_to_json(-INFINITY), "-inf");
  EXPECT_TRUE(std::isnan(number_from_json("nan", "t")));
  EXPECT_EQ(number_from_json("inf", "t"), INFINITY);
  EXPECT_EQ(number_from_json(3, "t"), 3.0);
  EXPECT_THROW(number_from_json("three", "t"), UserError);
}

TEST(Json, FieldErrorsNameKeyAndValue) {
  const Json object = {{"n", "many"}};
  EXPECT_THAT(
      [&] { json_field<std::int64_t>(object, "n", "point"); },
      testing::ThrowsMessage<UserError>("point: key 'n' must be of type integer, got \"many\""));
  EXPECT_THAT([&] { json_field<std::string>(object, "m", "point"); },
              testing::ThrowsMessage<UserError>("point: missing key 'm'"));
  EXPECT_THROW(
      json_field<std::int64_t>(Json{{"n", std::numeric_limits<std::uint64_t>::max()}}, "n", "p"),
      UserError);
}

TEST(Json, InvalidUtf8IsReplacedWhenWritten) {
  EXPECT_EQ(canonical_json(Json("a\xff")), "\"a\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace assay
