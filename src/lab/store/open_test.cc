// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "lab/store/sqlite.h"
#include "lab/store/transfer.h"
#include "lab/testing/example_rows.h"
#include "lab/testing/forked.h"

namespace assay::lab {
namespace {

using namespace testing_rows;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::ThrowsMessage;

class OpenTest : public testing::Test {
 protected:
  void make_store(int rounds = 2) {
    const auto store = std::make_unique<Store>(path_, Access::kCreate);
    ingest_lines(*store, lines_of(example_run("r1", rounds)), "test");
  }

  // Refused for every purpose, with this text, and not a byte or file more or less than before.
  void expect_refused(const std::string& text) {
    const auto before = std::filesystem::is_directory(path_) ? "" : read_file(path_);
    for (const Access access : {Access::kRead, Access::kWrite, Access::kCreate}) {
      EXPECT_THAT(
          [&] { std::make_unique<Store>(path_, access); },
          ThrowsMessage<UserError>(AllOf(HasSubstr(text), HasSubstr(path_), Not(HasSubstr("\n")))));
    }
    if (!before.empty()) {
      EXPECT_EQ(read_file(path_), before);
    }
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      ++files;
    }
    EXPECT_EQ(files, 1u);
  }

  TemporaryDirectory dir_;
  std::string path_ = dir_.path() + "/assay.db";
};

TEST_F(OpenTest, UrlsThatAreNoStoreAreRefused) {
  const auto opening = [](const std::string& url) {
    return [url] { std::make_unique<Store>(url, Access::kCreate); };
  };
  EXPECT_THAT(
      opening("postgre://u:secret@db/assay"),
      ThrowsMessage<UserError>(AllOf(HasSubstr("'postgre://…'"), Not(HasSubstr("secret")))));
  EXPECT_THAT(opening("mysql://x"), ThrowsMessage<UserError>(HasSubstr("'mysql://x'")));
  EXPECT_THAT(opening("results"), ThrowsMessage<UserError>(HasSubstr("'results'")));
  EXPECT_THAT(opening(""), ThrowsMessage<UserError>(HasSubstr("sqlite:PATH")));
  EXPECT_THAT(opening("sqlite:"), ThrowsMessage<UserError>(HasSubstr("path is missing")));
  EXPECT_THAT(opening("sqlite://host/x.db"), ThrowsMessage<UserError>(HasSubstr("sqlite:PATH")));
}

TEST_F(OpenTest, AMissingStoreIsMadeOnlyWhenAsked) {
  for (const Access access : {Access::kRead, Access::kWrite}) {
    EXPECT_THAT([&] { std::make_unique<Store>("sqlite:" + path_, access); },
                ThrowsMessage<UserError>(HasSubstr("no such store")));
    // SQLite would have made one in memory.
    EXPECT_THAT([&] { std::make_unique<Store>("sqlite::memory:", access); },
                ThrowsMessage<UserError>(HasSubstr("no such store")));
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(OpenTest, ANewerStoreIsRefusedAndLeftAlone) {
  make_store();
  SqliteConnection(path_, SqliteConnection::Mode::kReadWrite).execute("PRAGMA user_version = 2");
  expect_refused("version 2");
}

TEST_F(OpenTest, AStoreWithoutAVersionIsRefused) {
  make_store();
  SqliteConnection(path_, SqliteConnection::Mode::kReadWrite).execute("PRAGMA user_version = 0");
  expect_refused("damaged");
}

TEST_F(OpenTest, AnotherProgramsDatabaseIsRefusedAndLeftAlone) {
  SqliteConnection(path_, SqliteConnection::Mode::kCreate)
      .execute("CREATE TABLE t (x); INSERT INTO t VALUES (1)");
  expect_refused("not an Assay store");
}

TEST_F(OpenTest, AFileThatIsNoDatabaseIsRefusedAndLeftAlone) {
  write_file_atomically(path_, "{\"schema\":1}\n");
  expect_refused("not even a database");
  for (const char* text : {"", "SQLite format 3"}) {
    write_file_atomically(path_, text);
    expect_refused("not even a database");
  }
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  expect_refused("not a regular file");
}

TEST_F(OpenTest, ReadersLeaveNothingBehindAndCannotWrite) {
  make_store();
  {
    const auto store = std::make_unique<Store>(path_, Access::kRead);
    EXPECT_EQ(store->runs().size(), 1u);
    EXPECT_THAT([&] { store->prune(1); },
                ThrowsMessage<UserError>(AllOf(HasSubstr("read-only"), HasSubstr(path_))));
  }
  EXPECT_FALSE(std::filesystem::exists(path_ + "-wal"));
}

TEST_F(OpenTest, AStoreThatCannotBeWrittenCanBeRead) {
  make_store();
  ::chmod(path_.c_str(), 0444);
  ::chmod(dir_.path().c_str(), 0555);
  EXPECT_EQ(in_child([&] {
              // The superuser may write anything; be someone else.
              if (::getuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return 1;
              if (std::make_unique<Store>(path_, Access::kRead)->verify().size() != 0) return 2;
              try {
                ingest_lines(*std::make_unique<Store>(path_, Access::kWrite),
                             lines_of(example_run("r2", 1)), "test");
                return 3;
              } catch (const UserError& error) {
                return std::string(error.what()).find(path_) == std::string::npos ? 4 : 0;
              }
            }),
            0);
  ::chmod(dir_.path().c_str(), 0755);
  EXPECT_EQ(std::make_unique<Store>(path_, Access::kRead)->runs().size(), 1u);
}

// A limit on the size of files stands in for a full disk: writes end short, then fail.
TEST_F(OpenTest, AFullDiskLosesNothing) {
  make_store();
  for (const rlim_t limit : {1u, 20'000u, 60'000u, 200'000u}) {
    EXPECT_EQ(in_child([&] {
                signal(SIGXFSZ, SIG_IGN);
                const rlimit tight = {limit, RLIM_INFINITY};
                const auto store = std::make_unique<Store>(path_, Access::kWrite);
                setrlimit(RLIMIT_FSIZE, &tight);
                try {
                  ingest_lines(*store, lines_of(example_run("r2", 200)), "test");
                  return 1;
                } catch (const UserError& error) {
                  return std::string(error.what()).find(path_) == std::string::npos ? 2 : 0;
                }
              }),
              0)
        << limit;
    const auto store = std::make_unique<Store>(path_, Access::kWrite);
    EXPECT_THAT(store->verify(), IsEmpty());
    EXPECT_EQ(export_run(*store, "r1"), journal_text(example_run("r1", 2)));
    EXPECT_EQ(store->runs().size(), 1u);
  }
  make_store(3);  // and there is room again
  EXPECT_EQ(std::make_unique<Store>(path_, Access::kRead)->runs().at(0).rows, 6);
}

TEST_F(OpenTest, AnUnusablePlaceIsNamed) {
  EXPECT_THAT([] { std::make_unique<Store>("/proc/nowhere/assay.db", Access::kCreate); },
              ThrowsMessage<UserError>(HasSubstr("/proc/nowhere")));
}

}  // namespace
}  // namespace assay::lab
