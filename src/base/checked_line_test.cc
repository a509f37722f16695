// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/checked_line.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace assay {
namespace {

TEST(CheckedLine, OfWhatWasWrittenOnlyAllOfItIsRead) {
  const Json value = {{"name", "x\n\"é"}, {"numbers", {1, 0.1, -7}}};
  auto line = checked_line(value);
  ASSERT_EQ(line.back(), '\n');
  line.pop_back();
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(read_checked_line(line, "line"), value);
  for (std::size_t i = 0; i < line.size(); ++i) {
    EXPECT_FALSE(read_checked_line(line.substr(0, i), "line")) << i << " characters of it";
    for (const int bit : {0, 3, 5}) {
      auto changed = line;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      EXPECT_FALSE(read_checked_line(changed, "line")) << "character " << i << ", bit " << bit;
    }
  }
  EXPECT_FALSE(read_checked_line(canonical_json(value), "line"));
}

}  // namespace
}  // namespace assay
