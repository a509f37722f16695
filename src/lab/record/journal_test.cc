// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/error.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Row numbered(int order) {
  Row row;
  row.run_id = "r";
  row.attempt_id = std::to_string(order);
  row.order = order;
  return row;
}

class JournalTest : public testing::Test {
 protected:
  TemporaryDirectory dir_;
  std::string path_ = dir_.path() + "/results/run.jsonl";
};

TEST_F(JournalTest, KeepsRowsInOrder) {
  {
    JournalWriter writer(path_);
    for (int i = 0; i < 3; ++i) writer.append(numbered(i));
  }
  JournalWriter(path_).append(numbered(3));
  const auto journal = read_journal(path_);
  ASSERT_EQ(journal.rows.size(), 4u);
  EXPECT_EQ(journal.rows[3].order, 3);
  EXPECT_EQ(journal.lines[2], row_to_line(numbered(2)));
  EXPECT_FALSE(journal.torn);
}

TEST_F(JournalTest, IgnoresATornTailAndCutsItOffBeforeWriting) {
  { JournalWriter(path_).append(numbered(0)); }
  const auto whole = read_file(path_);
  const auto second = row_to_line(numbered(1));
  for (const std::size_t kept : {std::size_t{1}, second.size() / 2, second.size()}) {
    write_file_atomically(path_, whole + second.substr(0, kept));
    const auto journal = read_journal(path_);
    EXPECT_TRUE(journal.torn);
    EXPECT_EQ(journal.rows.size(), 1u);
    JournalWriter(path_).append(numbered(2));
    EXPECT_EQ(read_journal(path_).rows.at(1).order, 2);
  }
}

TEST_F(JournalTest, ACorruptMiddleLineIsNamed) {
  {
    JournalWriter writer(path_);
    for (int i = 0; i < 3; ++i) writer.append(numbered(i));
  }
  auto content = read_file(path_);
  content[content.find('\n') + 20] ^= 4;
  write_file_atomically(path_, content);
  EXPECT_THAT([&] { read_journal(path_); }, ThrowsMessage<UserError>(HasSubstr("run.jsonl:2:")));
}

// Long journals are read by several threads: every length gives the same rows, and of several bad
// lines the first is named.
TEST(LongJournal, IsReadAsAShortOneIs) {
  std::string text;
  std::vector<std::size_t> ends = {0};
  for (int i = 0; i < 2600; ++i) {
    text += row_to_line(numbered(i)) + "\n";
    ends.push_back(text.size());
  }
  for (const std::size_t lines : {0, 1, 499, 999, 1000, 1001, 2500, 2600}) {
    const auto journal = parse_journal(std::string_view(text).substr(0, ends[lines]), "j");
    ASSERT_EQ(journal.rows.size(), lines);
    ASSERT_EQ(journal.lines.size(), lines);
    for (std::size_t i = 0; i < lines; ++i) {
      ASSERT_EQ(journal.rows[i].order, static_cast<int>(i));
      ASSERT_EQ(journal.lines[i], row_to_line(numbered(static_cast<int>(i))));
    }
  }
  for (const std::size_t line : {2599, 1700, 3}) {  // the ones before stay damaged
    text[ends[line] + 20] ^= 4;
    EXPECT_THAT([&] { parse_journal(text, "j"); },
                ThrowsMessage<UserError>(HasSubstr(fmt::format("j:{}:", line + 1))));
  }
}

TEST_F(JournalTest, ASecondWriterIsRefused) {
  const JournalWriter first(path_);
  EXPECT_THAT([&] { JournalWriter second(path_); },
              ThrowsMessage<UserError>(HasSubstr("another runner is writing")));
}

TEST_F(JournalTest, AFullDiskLosesNothingThatWasThere) {
  JournalWriter writer(path_);
  writer.append(numbered(0));
  const auto before = read_file(path_);

  // A limit on the file's size stands in for a full disk: the same short write, then an error.
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, SIG_IGN);
  const rlimit tight = {before.size() + 10, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tight);
  EXPECT_THAT([&] { writer.append(numbered(1)); }, ThrowsMessage<UserError>(HasSubstr(path_)));
  setrlimit(RLIMIT_FSIZE, &old);

  EXPECT_EQ(read_file(path_), before);
  writer.append(numbered(2));
  EXPECT_EQ(read_journal(path_).rows.size(), 2u);
}

TEST_F(JournalTest, AnUnwritablePlaceIsNamed) {
  EXPECT_THAT([] { JournalWriter("/proc/nowhere/run.jsonl"); },
              ThrowsMessage<UserError>(HasSubstr("/proc/nowhere")));
}

}  // namespace
}  // namespace assay::lab
