// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "lab/store/transfer.h"
#include "lab/testing/example_rows.h"

namespace assay::lab {
namespace {

using namespace testing_rows;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::ThrowsMessage;

class SourceTest : public testing::Test {
 protected:
  std::string at(const std::string& name) { return dir_.path() + "/" + name; }
  std::string write(const std::string& name, const std::string& text) {
    write_file_atomically(at(name), text);
    return at(name);
  }
  TemporaryDirectory dir_;
  std::vector<Row> r1_ = example_run("r1", 2), r2_ = example_run("r2", 3);
};

TEST_F(SourceTest, ACompressedJournalIsReadAsItIs) {
  const auto plain = write("b.jsonl", journal_text(r1_));
  write("c.jsonl", journal_text(r2_));
  ASSERT_EQ(std::system(("gzip '" + plain + "'").c_str()), 0);
  EXPECT_EQ(lines_of(read_source(at("b.jsonl.gz")).rows), lines_of(r1_));
  EXPECT_EQ(read_source(dir_.path()).rows.size(), r1_.size() + r2_.size());
  write("d.jsonl.gz", read_file(at("b.jsonl.gz")).substr(0, 100));
  EXPECT_THAT([&] { read_source(at("d.jsonl.gz")); },
              ThrowsMessage<UserError>(HasSubstr("d.jsonl.gz: not whole, or damaged")));
}

TEST_F(SourceTest, AJournalAFolderAndAStoreGiveTheSameRows) {
  write("b.jsonl", journal_text(r1_));
  write("c.jsonl", journal_text(r2_));
  write("ignored.txt", "something else");
  ingest_journals(*std::make_unique<Store>(at("assay.db"), Access::kCreate),
                  journals_in(dir_.path()));
  auto all = lines_of(r1_);
  const auto more = lines_of(r2_);
  all.insert(all.end(), more.begin(), more.end());

  EXPECT_EQ(lines_of(read_source(at("b.jsonl")).rows), lines_of(r1_));
  EXPECT_EQ(lines_of(read_source(dir_.path()).rows), all);
  EXPECT_EQ(lines_of(read_source(at("assay.db")).rows), all);
  EXPECT_EQ(lines_of(read_source("sqlite:" + at("assay.db")).rows), all);
  // A store under any name, told by its content.
  std::filesystem::copy(at("assay.db"), at("renamed"));
  EXPECT_EQ(lines_of(read_source(at("renamed")).rows), all);
  // The same rows from several places are there once.
  const std::vector<std::string> texts = {at("c.jsonl"), dir_.path(), at("assay.db")};
  const auto source = read_sources(texts);
  EXPECT_EQ(source.rows.size(), all.size());
  EXPECT_EQ(source.rows[0].run_id, "r2");
  EXPECT_THAT(source.warnings, IsEmpty());
}

TEST_F(SourceTest, AStoreThatIsTooLargeGivesItsLatestRows) {
  const auto store = std::make_unique<Store>(at("assay.db"), Access::kCreate);
  ingest_lines(*store, lines_of(r1_), "test");
  ingest_lines(*store, lines_of(r2_), "test");
  const std::string text = at("assay.db");
  const auto all = read_sources({&text, 1}, Reading::kWhatIsWhole, 10);
  EXPECT_EQ(all.rows.size(), 10u);
  EXPECT_THAT(all.warnings, IsEmpty());
  const auto latest = read_sources({&text, 1}, Reading::kWhatIsWhole, 9);
  EXPECT_EQ(lines_of(latest.rows), lines_of(r2_));
  EXPECT_THAT(latest.warnings, ElementsAre(AllOf(HasSubstr("not all 10"), HasSubstr("assay.db"))));
}

TEST_F(SourceTest, TornAndEmptyJournalsAreWarnings) {
  write("a.jsonl", journal_text(r1_) + "{\"torn");
  write("b.jsonl", "");
  write("c.jsonl", "{\"only torn");
  const auto source = read_source(dir_.path());
  EXPECT_EQ(source.rows.size(), r1_.size());
  EXPECT_THAT(source.warnings, ElementsAre(AllOf(HasSubstr("incomplete"), HasSubstr("a.jsonl")),
                                           AllOf(HasSubstr("no rows"), HasSubstr("b.jsonl")),
                                           AllOf(HasSubstr("incomplete"), HasSubstr("c.jsonl")),
                                           AllOf(HasSubstr("no rows"), HasSubstr("c.jsonl"))));
}

TEST_F(SourceTest, WhatCannotBeReadIsNamed) {
  const auto reading = [](const std::string& text) { return [text] { read_source(text); }; };
  EXPECT_THAT(reading(at("none.jsonl")),
              ThrowsMessage<UserError>(AllOf(HasSubstr("no such"), HasSubstr("none.jsonl"))));
  EXPECT_THAT(reading(at("none.db")),
              ThrowsMessage<UserError>(AllOf(HasSubstr("no such store"), HasSubstr("none.db"))));
  EXPECT_THAT(reading(""), ThrowsMessage<UserError>(HasSubstr("no such")));
  EXPECT_THAT(
      reading("postgresql://u:secret@/y?host=/nowhere"),
      ThrowsMessage<UserError>(AllOf(HasSubstr("u@/y?host=/nowhere"), Not(HasSubstr("secret")))));
  EXPECT_THAT(reading(dir_.path()), ThrowsMessage<UserError>(HasSubstr("no journal")));
  EXPECT_THAT(reading(write("text.db", "no database")),
              ThrowsMessage<UserError>(HasSubstr("text.db")));
  EXPECT_THAT(reading(write("notes.md", "# not a journal\n")),
              ThrowsMessage<UserError>(HasSubstr("notes.md:1")));
  EXPECT_FALSE(std::filesystem::exists(at("none.db")));
}

TEST_F(SourceTest, TwoContentsOfOneRowAreRefused) {
  auto changed = r1_;
  changed[3].cores = 7;
  const std::vector<std::string> texts = {write("a.jsonl", journal_text(r1_)),
                                          write("b.jsonl", journal_text(changed))};
  EXPECT_THAT([&] { read_sources(texts); },
              ThrowsMessage<UserError>(
                  AllOf(HasSubstr(r1_[3].attempt_id), HasSubstr("a.jsonl"), HasSubstr("b.jsonl"))));
}

}  // namespace
}  // namespace assay::lab
