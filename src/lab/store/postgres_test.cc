// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/postgres.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "lab/store/test_postgres_server.h"
#include "lab/store/transfer.h"
#include "lab/testing/example_rows.h"
#include "lab/testing/forked.h"

namespace assay::lab {
namespace {

using namespace testing_rows;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::ThrowsMessage;

// What only PostgreSQL has: roles, passwords, a server that goes away.
class PostgresTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string missing;
    server_ = TestPostgresServer::get(missing);
    if (server_ == nullptr) GTEST_SKIP() << missing;
    name_ = testing::UnitTest::GetInstance()->current_test_info()->name();
    url_ = server_->database(name_);
  }
  static std::unique_ptr<Store> open(const std::string& url, Access access = Access::kCreate) {
    return std::make_unique<Store>(url, access);
  }
  static IngestReport add(Store& store, const std::vector<Row>& rows) {
    return ingest_lines(store, lines_of(rows), "test");
  }

  TestPostgresServer* server_ = nullptr;
  std::string name_, url_;
};

TEST_F(PostgresTest, AMissingStoreIsMadeOnlyWhenAsked) {
  for (const Access access : {Access::kRead, Access::kWrite}) {
    EXPECT_THAT([&] { open(url_, access); },
                ThrowsMessage<UserError>(AllOf(HasSubstr("no such store"), HasSubstr(name_))));
  }
  open(url_);
  EXPECT_THAT(open(url_, Access::kRead)->runs(), IsEmpty());
}

TEST_F(PostgresTest, ANewerStoreIsRefusedAndLeftAlone) {
  add(*open(url_), example_run("r1", 2));
  server_->execute(url_, "UPDATE assay.store SET version = 9");
  for (const Access access : {Access::kRead, Access::kWrite, Access::kCreate}) {
    EXPECT_THAT([&] { open(url_, access); },
                ThrowsMessage<UserError>(AllOf(HasSubstr("version 9"), HasSubstr(name_))));
  }
  server_->execute(url_, "UPDATE assay.store SET version = 1");
  EXPECT_EQ(open(url_, Access::kRead)->runs().at(0).rows, 4);
}

TEST_F(PostgresTest, AStoreWithoutOneVersionIsDamaged) {
  open(url_);
  for (const char* sql : {"INSERT INTO assay.store VALUES (1, 0)", "DELETE FROM assay.store"}) {
    server_->execute(url_, sql);
    for (const Access access : {Access::kRead, Access::kWrite, Access::kCreate}) {
      EXPECT_THAT([&] { open(url_, access); }, ThrowsMessage<UserError>(HasSubstr("damaged")));
    }
  }
}

// As a server does by itself a minute after an ingest.
TEST_F(PostgresTest, IsRebuiltAfterItWasAnalysed) {
  const auto store = open(url_);
  const auto rows = example_run("r1", 1500);
  add(*store, rows);
  server_->execute(url_, "ANALYZE");
  EXPECT_EQ(store->rebuild(), 3000);
  EXPECT_EQ(export_run(*store, "r1"), journal_text(rows));
  EXPECT_THAT(store->verify(), IsEmpty());
}

// A pooler gives a session to one program after another.
TEST_F(PostgresTest, LeavesItsSessionAsItWas) {
  server_->execute(url_, "CREATE TABLE public.before AS SELECT name, setting FROM pg_settings");
  add(*open(url_), example_run("r1", 1));
  for (const Access access : {Access::kRead, Access::kWrite}) {
    const auto db = open_postgres(url_, access);
    EXPECT_EQ(db->number("SELECT count(*) FROM attempt"), 2);
    if (access == Access::kWrite) Transaction(*db, Database::Kind::kWrite).commit();
    db->change("CREATE TABLE public.after AS SELECT name, setting FROM pg_settings", {});
    EXPECT_EQ(db->number("SELECT count(*) FROM (TABLE public.after EXCEPT TABLE public.before)"
                         " AS other WHERE name <> 'application_name'"),
              0);
    server_->execute(url_, "DROP TABLE public.after");
  }
}

TEST_F(PostgresTest, AnOlderStoreIsBroughtForwardByWhoeverWrites) {
  const auto rows = example_run("r1", 2);
  add(*open(url_), rows);
  std::vector<const char*> steps(postgres_steps().begin(), postgres_steps().end());
  steps.push_back("ALTER TABLE attempt ADD COLUMN of_tomorrow integer NOT NULL DEFAULT 7");
  steps.push_back("CREATE TABLE tomorrow (x integer)");
  EXPECT_THAT([&] { open_postgres(url_, Access::kRead, steps); },
              ThrowsMessage<UserError>(HasSubstr("version 1")));
  const auto db = open_postgres(url_, Access::kWrite, steps);
  EXPECT_EQ(db->number("SELECT version FROM store"), 3);
  EXPECT_EQ(db->number("SELECT sum(of_tomorrow) FROM attempt"), 28);
  EXPECT_EQ(db->number("SELECT count(*) FROM tomorrow"), 0);
  open_postgres(url_, Access::kRead, steps);
  EXPECT_THAT([&] { open(url_); }, ThrowsMessage<UserError>(HasSubstr("newer assay")));
  // A step that fails leaves the store as it was.
  steps.push_back("CREATE TABLE once_more (x integer); SELECT nonsense");
  EXPECT_THAT([&] { open_postgres(url_, Access::kWrite, steps); },
              ThrowsMessage<UserError>(HasSubstr("nonsense")));
  EXPECT_EQ(db->number("SELECT version FROM store"), 3);
  EXPECT_EQ(db->number("SELECT count(*) FROM pg_tables WHERE tablename = 'once_more'"), 0);
}

TEST_F(PostgresTest, AReaderCannotWrite) {
  add(*open(url_), example_run("r1", 2));
  const auto store = open(url_, Access::kRead);
  EXPECT_THAT([&] { store->prune(1); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("read-only"), HasSubstr(name_))));
  EXPECT_THAT([&] { add(*store, example_run("r2", 2)); },
              ThrowsMessage<UserError>(HasSubstr("read-only")));
  EXPECT_EQ(store->runs().size(), 1u);
}

TEST_F(PostgresTest, ARoleThatMayOnlyReadReadsEverything) {
  const auto rows = example_run("r1", 2);
  add(*open(url_), rows);
  server_->execute(url_,
                   "DROP ROLE IF EXISTS page; CREATE ROLE page LOGIN PASSWORD 'se=cr/et'; "
                   "GRANT USAGE ON SCHEMA assay TO page; "
                   "GRANT SELECT ON ALL TABLES IN SCHEMA assay TO page");
  const auto url = server_->url(name_, "page:se%3Dcr%2Fet");
  {
    const auto store = open(url, Access::kRead);
    EXPECT_EQ(export_run(*store, "r1"), journal_text(rows));
    EXPECT_THAT(store->verify(), IsEmpty());
    EXPECT_THAT(store->url(), Not(HasSubstr("se")));
  }
  open(url_, Access::kWrite)->rebuild();
  EXPECT_EQ(export_run(*open(url, Access::kRead), "r1"), journal_text(rows));  // still its right
  EXPECT_THAT([&] { add(*open(url, Access::kWrite), example_run("r2", 1)); },
              ThrowsMessage<UserError>(HasSubstr("may only be read with this role")));
  server_->execute(url_, "ALTER ROLE page SET default_transaction_read_only = on");
  EXPECT_THAT([&] { open(url, Access::kWrite); },
              ThrowsMessage<UserError>(HasSubstr("of this role or server are read-only")));
  // Neither the wrong password nor the right one is in a message, and the environment gives none.
  ::setenv("PGPASSWORD", "se=cr/et", 1);
  for (const auto& wrong :
       {server_->url(name_, "page:s3cret"), server_->url(name_, "page", "password=s3cret"),
        server_->url(name_, "page")}) {
    EXPECT_THAT([&] { open(wrong, Access::kRead); },
                ThrowsMessage<UserError>(AllOf(HasSubstr("page@/"), Not(HasSubstr("s3cret")),
                                               Not(HasSubstr("se=cr")), Not(HasSubstr("\n")))));
  }
  ::unsetenv("PGPASSWORD");
  const TemporaryDirectory dir;
  write_file_atomically(dir.path() + "/pass", "*:*:*:page:se=cr/et\n");
  ::chmod((dir.path() + "/pass").c_str(), 0600);
  ::setenv("PGPASSFILE", (dir.path() + "/pass").c_str(), 1);
  EXPECT_EQ(open(server_->url(name_, "page"), Access::kRead)->runs().size(), 1u);
  ::unsetenv("PGPASSFILE");
}

TEST_F(PostgresTest, AServerThatWasRestartedIsFoundAgain) {
  const auto store = open(url_);
  const auto rows = example_run("r1", 20);
  add(*store, {rows[0], rows[1]});
  server_->kill();
  EXPECT_THAT([&] { add(*store, rows); }, ThrowsMessage<UserError>(HasSubstr(name_)));
  server_->start();
  EXPECT_EQ(add(*store, rows).known, 2);
  EXPECT_THAT(store->verify(), IsEmpty());
  server_->kill();
  server_->start();
  EXPECT_EQ(export_run(*store, "r1"), journal_text(rows));
}

// However much of the batch had arrived.
TEST_F(PostgresTest, AConnectionCutDuringAnIngestLeavesAllOrNothing) {
  const auto first = example_run("r1", 5), second = example_run("r2", 5);
  const auto store = open(url_);
  int batches = 0;
  EXPECT_THROW(store->ingest([&]() -> std::optional<Batch> {
    const auto lines = lines_of(batches == 0 ? first : second);
    if (++batches == 2) {
      server_->execute(server_->url("postgres", "keeper"),
                       "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                       " WHERE application_name = 'assay'");
    }
    return Batch{lines, "test", [](std::size_t) { return "test"; }};
  }),
               UserError);
  EXPECT_THAT(store->runs(), IsEmpty());
  add(*store, first);
  EXPECT_EQ(store->runs().size(), 1u);
}

TEST_F(PostgresTest, ATextThatPostgresCannotKeepIsNamed) {
  const auto store = open(url_);
  EXPECT_THAT([&] { add(*store, {example_row({.run_id = std::string(2001, 'r')})}); },
              ThrowsMessage<UserError>(HasSubstr("more than 2000 bytes")));
  EXPECT_THAT(
      [&] { add(*store, {example_row({.provider = std::string("a\0b", 3)})}); },
      ThrowsMessage<UserError>(AllOf(HasSubstr("NUL"), HasSubstr("provider \"a\\u0000b\""))));
  add(*store, example_run("r1", 1));
  EXPECT_EQ(store->runs().size(), 1u);
}

// The key of a series is a hash that no row has: who looked at the rows alone would not miss it.
TEST_F(PostgresTest, AKeyOfASeriesThatWasChangedIsDamage) {
  const auto store = open(url_);
  const auto rows = example_run("r1", 2);
  add(*store, rows);
  for (const char* change : {"key = 'x'", "key = translate(key, '0123456789', '1234567890')"}) {
    server_->execute(url_, fmt::format("UPDATE assay.series SET {} WHERE provider = 'naive'",
                                       std::string(change)));
    EXPECT_THAT(store->verify(), ElementsAre(Field(&Problem::message,
                                                   AllOf(HasSubstr("'key'"), HasSubstr("naive")))));
    EXPECT_EQ(store->rebuild(), 4);
    EXPECT_THAT(store->verify(), IsEmpty());
  }
  EXPECT_EQ(export_run(*store, "r1"), journal_text(rows));
}

TEST_F(PostgresTest, ItsStampTellsEveryChange) {
  const auto writer = open(url_), reader = open(url_, Access::kRead);
  const auto before = reader->stamp();
  EXPECT_EQ(reader->stamp(), before);
  add(*writer, example_run("r1", 1));
  EXPECT_NE(reader->stamp(), before);
}

// PostgreSQL's rows, given to SQLite and back, are the same bytes.
TEST_F(PostgresTest, MergesWithSqliteBothWays) {
  const TemporaryDirectory dir;
  const auto shared = open(url_), own = open(dir.path() + "/assay.db");
  const auto r1 = example_run("r1", 3), r2 = example_run("r2", 2);
  add(*shared, r1);
  add(*own, r2);
  EXPECT_EQ(merge_store(*own, *shared).added, 6);
  EXPECT_EQ(merge_store(*shared, *own).added, 4);
  for (const char* run : {"r1", "r2"}) EXPECT_EQ(export_run(*own, run), export_run(*shared, run));
}

}  // namespace
}  // namespace assay::lab
