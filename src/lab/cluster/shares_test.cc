// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/shares.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "lab/testing/decision_rows.h"

namespace assay::lab {
namespace {

using testing_rows::make_row;

class SharesTest : public testing::Test {
 protected:
  SharesTest() : place_(new_place(request_, kRun, folder_.path() + "/run.jsonl")) {
    share_.of = place_.journal;
    share_.version = "1";
    share_.sha256 = {{"assay", "abc"}};
    share_.points = {{"matmul", {{"n", 64}}}};
  }
  static Row row(int round) { return make_row({.round = round, .run_id = kRun}); }

  static constexpr const char* kRun = "20260101T000000.000000Z-aaaaaaa";
  TemporaryDirectory folder_;
  RunRequest request_ = default_request(true);
  RunPlace place_;
  RunShare share_;
  Shares shares_{place_.journal};
  const TaskId task_{2, 7};
};

TEST_F(SharesTest, AreOpenFromTheRecordToTheEnd) {
  EXPECT_TRUE(shares_.open().empty());
  shares_.write(task_, kRun, share_, {});
  const auto open = Shares(place_.journal).open();
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open.begin()->first, task_);
  EXPECT_EQ(open.begin()->second.points.at(0).point, share_.points[0].point);
  EXPECT_TRUE(shares_.close(task_, [](auto rows) { EXPECT_TRUE(rows.empty()); }));
  EXPECT_TRUE(shares_.open().empty());
  EXPECT_THROW(find_place(shares_.journal_of(task_), ""), UserError) << "nobody takes it up again";
}

TEST_F(SharesTest, LeaveNothing) {
  shares_.write(task_, kRun, share_, std::vector{row(1)});
  write_file_atomically(shares_.options(), "{}");
  shares_.remove();
  EXPECT_FALSE(std::filesystem::exists(shares_.folder()));
}

TEST_F(SharesTest, NumbersAreNotUsedAgain) {
  EXPECT_EQ(shares_.unused_number(), 1);
  shares_.write(task_, kRun, share_, {});
  EXPECT_EQ(shares_.unused_number(), 3);
  shares_.close(task_, [](auto) {});
  EXPECT_EQ(shares_.unused_number(), 3);
}

TEST_F(SharesTest, ATaskContinuesTheRunOfItsShare) {
  const auto known = row(0);
  shares_.write(task_, kRun, share_, {&known, 1});
  const auto place = find_place(shares_.journal_of(task_), "");
  EXPECT_EQ(place.run_id, kRun);
  EXPECT_EQ(place.request.mode, "quick");
  EXPECT_EQ(place.rows.size(), 1u);
  ASSERT_TRUE(place.share);
  EXPECT_EQ(place.share->sha256, share_.sha256);
}

TEST_F(SharesTest, RowsAreToldOnceAndOnlyWhole) {
  shares_.write(task_, kRun, share_, {});
  const auto path = shares_.journal_of(task_);
  std::ofstream(path) << row_to_line(row(0)) + "\n" + row_to_line(row(1)).substr(0, 50);
  ASSERT_EQ(shares_.news(task_).size(), 1u);
  EXPECT_TRUE(shares_.news(task_).empty());
  std::ofstream(path, std::ios::app) << row_to_line(row(1)).substr(50) + "\n";
  const auto news = shares_.news(task_);
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].round, 1);
}

TEST_F(SharesTest, WhoeverStillWritesKeepsThemOpen) {
  shares_.write(task_, kRun, share_, {});
  {
    const JournalWriter writer(shares_.journal_of(task_));
    EXPECT_FALSE(shares_.close(task_, [](auto) { FAIL(); }));
    EXPECT_EQ(shares_.open().size(), 1u);
  }
  EXPECT_TRUE(shares_.close(task_, [](auto) {}));
}

TEST_F(SharesTest, AreNotClosedByARunnerThatCannotKeepTheirRows) {
  const auto known = row(0);
  shares_.write(task_, kRun, share_, {&known, 1});
  EXPECT_THROW(shares_.close(task_, [](auto) { throw DiskError("full"); }), DiskError);
  EXPECT_EQ(shares_.open().size(), 1u);
}

TEST_F(SharesTest, SayHowTheyEnded) {
  shares_.write(task_, kRun, share_, {});
  EXPECT_FALSE(shares_.status(task_));
  EXPECT_EQ(shares_.last_words(task_), "");
  std::ofstream(shares_.folder_of(2) + "/7.status") << "4\n";
  std::ofstream(shares_.folder_of(2) + "/7.log") << "first\nlast\n";
  EXPECT_EQ(shares_.status(task_), 4);
  EXPECT_EQ(shares_.last_words(task_), "last");
  shares_.remove();
  EXPECT_FALSE(std::filesystem::exists(shares_.folder()));
}

}  // namespace
}  // namespace assay::lab
