// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/scan/axis.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace assay::transport {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Axis, NumbersAndRanges) {
  EXPECT_THAT(parse_axis("1e-3", "--nu"), ElementsAre(1e-3));
  EXPECT_THAT(parse_axis("-1,0:1:3", "--er"), ElementsAre(-1, 0, 0.5, 1));
  EXPECT_THAT(parse_axis("0,1e-4:1e-2:3log", "--er"),
              ElementsAre(0, 1e-4, DoubleNear(1e-3, 1e-17), 1e-2));
  for (const char* ready : {kDefaultNu, kDefaultEr, kDefaultRho}) {
    EXPECT_GE(parse_axis(ready, "a default").size(), 8u);
  }
}

TEST(Axis, NonsenseIsRefusedInOneLine) {
  const auto complaint = [](const char* text) -> std::string {
    try {
      parse_axis(text, "--nu");
    } catch (const UserError& e) {
      return e.what();
    }
    return "accepted";
  };
  for (
      const char* text :
      {"",         "x",       "1,",    ",1",      "1,,2",     "nan",           "inf",
       "1e999",    "1 2",     "1:2",   "1:2:3:4", "1:2:",     ":2:3",          "1::3",
       "1:2:x",    "1:2:3.5", "1:2:1", "1:2:0",   "1:2:-3",   "1:2:999999999", "1:2:99999999999999",
       "1:2:3lag", "1:2:log", "2:1:3", "1:1:3",   "0:1:3log", "-1:1:3log",     "nan:1:3",
       "1:inf:3"}) {
    EXPECT_THAT(complaint(text), HasSubstr("--nu")) << text;
    EXPECT_EQ(complaint(text).find('\n'), std::string::npos) << text;
  }
  EXPECT_THAT(complaint("0:1:3log"), HasSubstr("begins above 0, got '0:1:3log'"));
  EXPECT_THAT(complaint("2:1:3"), HasSubstr("goes upward"));
}

}  // namespace
}  // namespace assay::transport
