// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/shown_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "base/error.h"
#include "lab/store/store.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ShownSource, IsAUrlWithoutItsPassword) {
  const std::vector<std::array<const char*, 2>> cases = {
      {"postgresql://u:secret@h:5432/db", "postgresql://u@h:5432/db"},
      {"postgres://u:secret@h/db", "postgres://u@h/db"},
      {"postgresql://u:se%63ret@[::1]:5/db?sslmode=require",
       "postgresql://u@[::1]:5/db?sslmode=require"},
      {"postgresql:///db?host=/run/x&user=u&password=secret",
       "postgresql:///db?host=/run/x&user=u"},
      {"postgresql://%2Frun%2Fx/db?hostaddr=::1", "postgresql://%2Frun%2Fx/db?hostaddr=::1"},
      {"postgresql://u%40server:secret@h/db", "postgresql://u%40server@h/db"},
      {"postgresql://h/db?sslpassword=secret&port=1", "postgresql://h/db?port=1"},
      {"postgresql://u:a?secret@h1:1,h2/db", "postgresql://u@h1:1,h2/db"},
      {"postgresql://u:a#secret@h/db", "postgresql://u@h/db"},
      {"postgresql://", "postgresql://"},
  };
  for (const auto& [url, shown] : cases) EXPECT_EQ(shown_source(url), shown) << url;
}

TEST(ShownSource, IsTextOfPsqlWithoutItsPassword) {
  const std::vector<std::array<const char*, 2>> cases = {
      {"host=h password=secret", "host=h"},
      {"password='se cret' host = 'h' dbname=db", "host='h' dbname=db"},
      {R"(password='it\'s secret' user=u)", "user=u"},
      {"password=secret", "…"},
      {"PASSWORD=secret", "…"},
      {"host=h pasword=secret", "…"},
      {"host=h,password=secret", "…"},
      {"host=h password='secret", "…"},
      {"host=h password=se cret", "…"},
      {"user=u:secret@h", "…"},
      {"host=h options=-csecret", "host=h"},
  };
  for (const auto& [text, shown] : cases) EXPECT_EQ(shown_source(text), shown) << text;
}

TEST(ShownSource, IsAPageAsItIs) {
  for (const char* url : {"https://example.org/commit/{commit}", "http://h/?a=1&b=/c/{commit}"}) {
    EXPECT_EQ(shown_source(url), url);
  }
}

// Whatever a slip of a finger makes of a URL, nothing behind its scheme is shown.
TEST(ShownSource, IsTheSchemeAloneOfWhatWasMistyped) {
  for (const char* text : {"postgresql:/u:secret@h/db",
                           "postgresql//u:secret@h/db",
                           "postgresql:u:secret@h/db",
                           "postgresql:secret",
                           "POSTGRESQL://u:secret@h/db",
                           "Postgres://u:secret@h/db",
                           "postgresq://u:secret@h/db",
                           "pg://u:secret@h/db",
                           "psql://secret/db",
                           "pgsql:/secret",
                           "postgresql+psycopg2://u:secret@h/db",
                           "postgresql%3A%2F%2Fu%3Asecret%40h%2Fdb",
                           "postgresql:%2F%2Fu:secret@h",
                           "postgresql%253A%252F%252Fu%253Asecret%2540h",
                           "postgresql://u%3Asecret@h/db",
                           "postgresql://u%3Asecret%40h/db",
                           "postgresql://h/u%3Asecret%40db",
                           "postgresql://u:pa/secret@h/db",
                           "postgresql://u:p@secret@h/db",
                           "postgresql://u:p@@secret@h/db",
                           "postgresql://u:secret%zz@h/db",
                           "postgresql://u:secret%00@h/db",
                           "postgresql://h:secret/db",
                           "postgresql://u:a#/secret@h/db",
                           "postgresql://h/db#u:secret@x",
                           "postgresql://h/db?secret",
                           "postgresql://h/db?password=a&secret=b",
                           "postgresql://h/db?pasword=secret",
                           "postgresql://h/db?password=secret%2",
                           "postgresql://h/db?user=u;password=secret",
                           "postgresql://h/db?dbname=postgresql://u:secret@h/db",
                           "postgresql://h/db?host=u:secret@h",
                           "postgresql://h/db?user=u%3Asecret",
                           "postgresql://[::1/db?password=secret",
                           "postgresql://[::1]secret/db",
                           "postgresql://h/db/secret",
                           "mysql://u:secret@x",
                           "https://x/db?key=secret",
                           "sqlite://u:secret@h/db",
                           "u:secret@h/db",
                           ":secret@h",
                           "h/db?password=secret",
                           "u%3Asecret%40h/db"}) {
    const auto shown = shown_source(text);
    EXPECT_THAT(shown, Not(HasSubstr("secret"))) << text;
    EXPECT_TRUE(shown.ends_with("…")) << text << " is shown as " << shown;
    EXPECT_EQ(shown_source(shown), shown) << text;
    EXPECT_THROW(Store(text, Access::kRead), UserError) << text;
    try {
      Store store(text, Access::kCreate);
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), Not(HasSubstr("secret"))) << text;
      EXPECT_THAT(error.what(), HasSubstr("'" + shown + "'")) << text;
    }
  }
}

TEST(ShownSource, IsAnythingElseAsItIs) {
  for (const char* text :
       {"", "results/", "results/assay.db", "sqlite:a.db", "sqlite:runs/12:30@n1.db", "mysql://x",
        "results/n=5/lr=0.1", "postgresql", "postgresql/", "pgdata//x", "a@b", "a@b:c",
        "20260131T120000.000000Z-abc1234", "naive@old", "j.jsonl", "C:/runs", "…",
        "postgresql://…"}) {
    EXPECT_EQ(shown_source(text), text);
    EXPECT_FALSE(is_address(text)) << text;
  }
}

TEST(ShownSource, KnowsWhatIsCertainlyAnAddress) {
  for (const char* text : {"postgresql://u:secret@h/db", "pg://u:secret@h", "postgresql:/u:x@h"}) {
    EXPECT_TRUE(is_address(text)) << text;
  }
  for (const char* text : {"u:secret@h", "password=secret", R"({"n":1,"who":"a@b"})"}) {
    EXPECT_FALSE(is_address(text)) << text;
  }
}

TEST(ShownSource, FindsPasswordsInCommands) {
  for (const char* command :
       {"psql postgresql://u:secret@h/db -c 'SELECT 1'", "curl http://u:secret@h/",
        "psql 'postgresql://h/db?password=secret'", "PGPASSWORD=secret psql",
        "x --url=pg://u:secret@h", "psql \"host=/x password=secret\" -c 'select 1'",
        "pg_dump --dbname=\"user=lab password=secret\"",
        "PGPASSWORD=$X true; PGPASSWORD=secret psql", "PGPASSWORD=$'secret' psql",
        "PGPASSWORD=\"${X:-secret}\" psql", "f x,postgresql://u:secret@h/d",
        "mysql --password=secret", "f postgresql://u:${X:-secret}@h/d",
        "git clone \"https://u:secret@h/x.git\""}) {
    EXPECT_TRUE(command_has_password(command)) << command;
  }
  for (const char* command :
       {"psql postgresql://u@h/db", "psql postgresql://u:$PW@h/db", "curl 'http://h/?a=1&b=c:d@e'",
        "PGPASSWORD=\"$PW\" psql", "sort a.txt", "ssh u@h ls", "sort --passes=2", "", "git@h:x.git",
        "PGPASSWORD= psql", "PGPASSWORD=${PW} psql", "PGPASSWORD=$(cat f) psql",
        "psql postgresql://u:${PW}@h/db", "f x://h:80/a", "f --max-token=2"}) {
    EXPECT_FALSE(command_has_password(command)) << command;
  }
}

}  // namespace
}  // namespace assay::lab
