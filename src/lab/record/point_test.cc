// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/point.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "lab/record/case.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const PointSchema& schema() {
  static const PointSchema kSchema({{"n", "extent", 0, 4096, {}, ""},
                                    {"m", "rows", 0, 4096, {}, "n"},
                                    {"dtype", "element", 0, 0, {"f32", "f64"}, ""},
                                    {"seed", "inputs", 0, 1 << 30, {}, ""}});
  return kSchema;
}

const Json kDefaults = {{"n", 512}, {"m", 64}, {"dtype", "f32"}, {"seed", 0}};

TEST(Point, MissingKeysComeFromTheDefaults) {
  EXPECT_EQ(canonical_json(schema().complete({{"dtype", "f64"}}, kDefaults)),
            R"({"dtype":"f64","m":64,"n":512,"seed":0})");
}

TEST(Point, ACubeHasOneSpelling) {
  const Json cube = {{"n", 64}, {"dtype", "f32"}, {"seed", 0}};
  EXPECT_EQ(schema().complete({{"n", 64}}, kDefaults), cube);
  EXPECT_EQ(schema().complete({{"n", 64}, {"m", 64}}, kDefaults), cube);
  EXPECT_EQ(point_int(cube, "m", "n"), 64);
  EXPECT_EQ(point_int(kDefaults, "m", "n"), 64);
}

TEST(Point, SomeTextsMayBeLeftOut) {
  const PointSchema with_text(
      {{"n", "extent", 0, 4096, {}, ""}, {"ids", "which", 0, 0, {}, "", true, 300}});
  const Json without = {{"n", 1}};
  EXPECT_EQ(with_text.complete(without), without);
  EXPECT_EQ(with_text.complete({{"n", 1}, {"ids", ""}}), without);
  const Json with = {{"n", 1}, {"ids", std::string(300, '1')}};
  EXPECT_EQ(with_text.complete(with), with);
  EXPECT_THAT(
      [&] {
        with_text.complete({{"n", 1}, {"ids", std::string(301, '1')}});
      },
      ThrowsMessage<UserError>(HasSubstr("at most 300 characters")));
  EXPECT_THAT(
      [&] {
        with_text.complete({{"n", 1}, {"ids", 3}});
      },
      ThrowsMessage<UserError>(HasSubstr("'ids'")));
}

TEST(Point, BadPointsAreNamed) {
  const auto completing = [](Json given) {
    return [given] { schema().complete(given, kDefaults); };
  };
  EXPECT_THAT(
      completing({{"nn", 1}}),
      ThrowsMessage<UserError>(HasSubstr("unknown parameter (known: n, m, dtype, seed): 'nn'")));
  EXPECT_THAT(completing({{"n", -1}}),
              ThrowsMessage<UserError>(HasSubstr("from 0 to 4096, got -1")));
  EXPECT_THAT(completing({{"n", 1.5}}), ThrowsMessage<UserError>(HasSubstr("got 1.5")));
  EXPECT_THAT(completing({{"dtype", "f8"}}),
              ThrowsMessage<UserError>(HasSubstr("one of f32, f64, got \"f8\"")));
  EXPECT_THAT(completing(Json::array()), ThrowsMessage<UserError>(HasSubstr("expected an object")));
  EXPECT_THAT(
      [] {
        schema().complete({{"n", 1}});
      },
      ThrowsMessage<UserError>(HasSubstr("missing parameter 'dtype'")));
}

TEST(Point, InputStreamsDifferByNameSetAndSeed) {
  EXPECT_NE(input_stream(0, "a", 0)[0], input_stream(0, "b", 0)[0]);
  EXPECT_NE(input_stream(0, "a", 0)[0], input_stream(0, "a", 1)[0]);
  EXPECT_NE(input_stream(0, "a", 0)[0], input_stream(1, "a", 0)[0]);
}

}  // namespace
}  // namespace assay::lab
