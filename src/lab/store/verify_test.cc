// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "lab/store/test_backends.h"
#include "lab/store/transfer.h"
#include "lab/testing/example_rows.h"

namespace assay::lab {
namespace {

using namespace testing_rows;
using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::ThrowsMessage;

class VerifyTest : public testing::Test {
 protected:
  VerifyTest() {
    for (auto& row : rows_) {  // short lines: every byte of one is flipped below
      row.samples = {};
      row.provenance = provenance_from_json(Json{{"note", "\u0001\u00fc"}});
      row.machine = machine_from_json(Json{{"fingerprint", "0f"}});
    }
    const auto store = std::make_unique<Store>(path_, Access::kCreate);
    ingest_lines(*store, lines_of(rows_), "test");
  }

  void change(const std::string& sql) {
    SqliteConnection(path_, SqliteConnection::Mode::kReadWrite).execute(sql);
  }
  std::vector<Problem> verify() { return std::make_unique<Store>(path_, Access::kRead)->verify(); }
  void overwrite(const std::string& content) {
    for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
    std::ofstream(path_, std::ios::binary) << content;  // unsynced: thousands of times
  }

  TemporaryDirectory dir_;
  std::string path_ = dir_.path() + "/assay.db";
  std::vector<Row> rows_ = example_run("r1", 2);
};

auto names(const Row& row) {
  return AllOf(Field(&Problem::run_id, row.run_id), Field(&Problem::attempt_id, row.attempt_id));
}

TEST_F(VerifyTest, FindsEveryFlippedByteOfALineInTheFile) {
  const auto content = read_file(path_);
  const auto line = row_to_line(rows_[2]);
  const auto at = content.find(line);
  ASSERT_NE(at, std::string::npos);
  EXPECT_THAT(verify(), IsEmpty());
  for (std::size_t i = 0; i < line.size(); ++i) {
    // One bit; the bit between upper and lower case; and something that is no UTF-8.
    for (const int mask : {0x01, 0x20, 0x80}) {
      auto damaged = content;
      damaged[at + i] = static_cast<char>(damaged[at + i] ^ mask);
      overwrite(damaged);
      ASSERT_THAT(verify(), Contains(names(rows_[2]))) << "byte " << i << " mask " << mask;
    }
  }
}

// Wherever the damage is: it is refused at the door, or found, or has done no harm.
TEST_F(VerifyTest, NoDamageAnywhereGoesUnnoticedOrCrashes) {
  const auto content = read_file(path_);
  const auto journal = journal_text(rows_);
  int refused = 0, found = 0, harmless = 0;
  for (std::size_t i = 0; i < content.size(); i += i < 100 ? 1 : 23) {
    auto damaged = content;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    overwrite(damaged);
    std::unique_ptr<Store> store;
    try {
      store = std::make_unique<Store>(path_, Access::kRead);
    } catch (const UserError&) {
      ++refused;
      continue;
    }
    if (!store->verify().empty()) {
      ++found;
    } else {
      ++harmless;
      ASSERT_EQ(export_run(*store, "r1"), journal) << "byte " << i;
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(found, 0);
  EXPECT_GT(harmless, 0);
}

TEST_F(VerifyTest, ATruncatedFileIsNoticed) {
  const auto content = read_file(path_);
  for (std::size_t size = 1; size < content.size(); size += size < 200 ? 33 : 4096) {
    overwrite(content.substr(0, size));
    try {
      EXPECT_THAT(verify(), Not(IsEmpty())) << size;
    } catch (const UserError&) {
    }
  }
}

TEST_F(VerifyTest, ColumnsMustFollowFromTheLine) {
  const std::string row = "run_id = 'r1' AND sequence = 1";
  for (const char* column : {"suite", "case_name", "point", "provider", "platform", "fingerprint",
                             "status", "cores", "round", "try", "executed"}) {
    SCOPED_TRACE(column);
    change(fmt::format("UPDATE attempt SET {0} = {0} || '1' WHERE {1}", column, row));
    EXPECT_THAT(verify(),
                Contains(AllOf(names(rows_[1]), Field(&Problem::message, HasSubstr(column)))));
    EXPECT_EQ(std::make_unique<Store>(path_, Access::kWrite)->rebuild(), 4);
    EXPECT_THAT(verify(), IsEmpty());
  }
  change("UPDATE attempt SET run_id = 'r7' WHERE " + row);
  EXPECT_THAT(verify(), Contains(Field(&Problem::run_id, "r7")));
  EXPECT_EQ(std::make_unique<Store>(path_, Access::kWrite)->rebuild(), 4);
  EXPECT_EQ(export_run(*std::make_unique<Store>(path_, Access::kRead), "r1"), journal_text(rows_));
}

// The same damage, done by SQL, over each kind of database.
class VerifyOverBackends : public OverBackends {
 protected:
  void SetUp() override {
    OverBackends::SetUp();
    if (IsSkipped()) return;
    url_ = url_of("assay.db");
    ingest_lines(*std::make_unique<Store>(url_, Access::kCreate), lines_of(rows_), "test");
  }
  std::vector<Problem> verify() { return std::make_unique<Store>(url_, Access::kRead)->verify(); }
  std::int64_t rebuild() { return std::make_unique<Store>(url_, Access::kWrite)->rebuild(); }
  std::string exported() { return export_run(*std::make_unique<Store>(url_, Access::kRead), "r1"); }

  std::string url_;
  std::vector<Row> rows_ = example_run("r1", 2);
};
INSTANTIATE_TEST_SUITE_P(, VerifyOverBackends, kBackends, name_of_backend);

TEST_P(VerifyOverBackends, TheOrderOfARunHasNoGaps) {
  change(url_, "UPDATE attempt SET sequence = 9 WHERE sequence = 2");
  EXPECT_THAT(verify(), Contains(AllOf(Field(&Problem::run_id, "r1"),
                                       Field(&Problem::message, HasSubstr("place")))));
  EXPECT_EQ(rebuild(), 4);
  EXPECT_THAT(verify(), IsEmpty());
}

TEST_P(VerifyOverBackends, ColumnsOfARunMustFollowFromTheLine) {
  for (const char* column : {"round", "try", "executed", "status"}) {
    const auto other = std::string(column) == "status" ? "'failed'" : "77";
    change(url_, fmt::format("UPDATE attempt SET {} = {} WHERE sequence = 1", column, other));
    EXPECT_THAT(verify(),
                Contains(AllOf(names(rows_[1]), Field(&Problem::message, HasSubstr(column)))));
    EXPECT_EQ(rebuild(), 4);
    EXPECT_THAT(verify(), IsEmpty());
  }
  change(url_, "UPDATE attempt SET run_id = 'r7' WHERE sequence = 1");
  EXPECT_THAT(verify(), Contains(Field(&Problem::run_id, "r7")));
  EXPECT_EQ(rebuild(), 4);
  EXPECT_EQ(exported(), journal_text(rows_));
}

TEST_P(VerifyOverBackends, RebuildMakesLostIndexesAnew) {
  change(url_, "DROP INDEX attempt_sequence; DROP INDEX attempt_identity");
  EXPECT_THAT(verify(), Not(IsEmpty()));
  rebuild();
  EXPECT_THAT(verify(), IsEmpty());
  EXPECT_EQ(exported(), journal_text(rows_));
}

TEST_P(VerifyOverBackends, ADamagedLineIsNeitherExportedNorRebuilt) {
  change(url_,
         "UPDATE attempt SET line = replace(line, 'semiring', 'Semiring') WHERE sequence = 3");
  const auto store = std::make_unique<Store>(url_, Access::kWrite);
  const auto named =
      ThrowsMessage<UserError>(AllOf(HasSubstr("'r1'"), HasSubstr(rows_[3].attempt_id)));
  EXPECT_THAT([&] { export_run(*store, "r1"); }, named);
  EXPECT_THAT([&] { store->rebuild(); }, named);
  EXPECT_EQ(store->runs().at(0).rows, 4);  // the failed rebuild has changed nothing
  const auto other = std::make_unique<Store>(url_of("b.db"), Access::kCreate);
  EXPECT_THAT([&] { merge_store(*other, *store); }, named);
  EXPECT_THAT(other->runs(), IsEmpty());
}

TEST(Line, IsUntouchedOnlyAsItWasWritten) {
  const auto line = row_to_line(example_row({}));
  EXPECT_TRUE(line_is_untouched(line));
  for (const char* bad : {"", "{}", ",\"check\":\"00000000\"}", "{\"check\":\"12345678\"}"}) {
    EXPECT_FALSE(line_is_untouched(bad)) << bad;
  }
  EXPECT_FALSE(line_is_untouched(line + " "));
  EXPECT_FALSE(line_is_untouched(line.substr(0, line.size() - 1)));
}

}  // namespace
}  // namespace assay::lab
