// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/live_source.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "lab/testing/many_rows.h"

namespace assay::lab {
namespace {

class LiveSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& row : testing_rows::many_rows({.rows = 60, .runs = 1, .hostile = false})) {
      lines_.push_back(row_to_line(row) + "\n");
    }
  }

  void append(const std::string& name, std::string_view text) {
    std::ofstream(folder_.path() + "/" + name, std::ios::app) << text;
  }

  TemporaryDirectory folder_;
  std::vector<std::string> lines_;
};

TEST_F(LiveSourceTest, SeesWhatIsAppendedAndNothingTwice) {
  LiveSource source({folder_.path(), folder_.path() + "/a.jsonl"});
  EXPECT_TRUE(source.refresh());  // the first look, at nothing
  EXPECT_EQ(source.rows().size(), 0u);
  append("a.jsonl", lines_[0]);
  EXPECT_TRUE(source.refresh());
  EXPECT_EQ(source.rows().size(), 1u);
  EXPECT_TRUE(source.warnings().empty());
  EXPECT_FALSE(source.refresh());
  append("a.jsonl", lines_[1] + lines_[2].substr(0, 50));
  EXPECT_TRUE(source.refresh());
  EXPECT_EQ(source.rows().size(), 2u);
  ASSERT_EQ(source.warnings().size(), 1u);
  append("a.jsonl", lines_[2].substr(50));
  EXPECT_TRUE(source.refresh());
  EXPECT_EQ(source.rows().size(), 3u);
  EXPECT_TRUE(source.warnings().empty());
  append("b.jsonl", lines_[2] + lines_[3]);  // one of them is known
  EXPECT_TRUE(source.refresh());
  EXPECT_EQ(source.rows().size(), 4u);
}

TEST_F(LiveSourceTest, KeepsWhatItReadBeforeSomethingBroke) {
  LiveSource source({folder_.path()});
  append("a.jsonl", lines_[0] + lines_[1]);
  EXPECT_TRUE(source.refresh());
  append("a.jsonl", "{}\n" + lines_[2]);
  EXPECT_TRUE(source.refresh());
  EXPECT_EQ(source.rows().size(), 2u);
  ASSERT_EQ(source.warnings().size(), 1u);
  EXPECT_NE(source.warnings()[0].find("a.jsonl"), std::string::npos);
  std::remove((folder_.path() + "/a.jsonl").c_str());
  EXPECT_TRUE(source.refresh());
  EXPECT_EQ(source.rows().size(), 0u);
}

TEST_F(LiveSourceTest, TellsWhereTheSameRowDiffers) {
  append("a.jsonl", lines_[0]);
  Row other = row_from_line(std::string_view(lines_[0]).substr(0, lines_[0].size() - 1), "line");
  other.metrics["steady_time"] = 17;
  append("b.jsonl", row_to_line(other) + "\n");
  LiveSource source({folder_.path()});
  source.refresh();
  EXPECT_EQ(source.rows().size(), 1u);
  ASSERT_EQ(source.warnings().size(), 1u);
  EXPECT_NE(source.warnings()[0].find("other content"), std::string::npos);
}

}  // namespace
}  // namespace assay::lab
