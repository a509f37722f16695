// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

enum class Colour { kRed, kBlue, kNameless };
constexpr auto kColours = make_names<Colour>({{Colour::kRed, "red"}, {Colour::kBlue, "blue"}});
static_assert(kColours[Colour::kBlue] == "blue");

TEST(Names, GoBothWays) {
  EXPECT_EQ(kColours[Colour::kRed], "red");
  EXPECT_EQ(kColours.find("blue"), Colour::kBlue);
  EXPECT_FALSE(kColours.find("green"));
  EXPECT_EQ(kColours.parse("red", "paint"), Colour::kRed);
  EXPECT_THAT([] { kColours.parse("green", "paint"); },
              testing::ThrowsMessage<UserError>("paint: 'green' is none of red, blue"));
  EXPECT_THROW((void)kColours[Colour::kNameless], InternalError);
}

}  // namespace
}  // namespace assay
