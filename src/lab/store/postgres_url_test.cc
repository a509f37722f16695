// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/postgres_url.h"

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

TEST(PostgresUrl, IsShownWithoutItsPassword) {
  const std::vector<std::array<const char*, 2>> cases = {
      {"postgresql://u:secret@h:5432/db", "postgresql://u@h:5432/db"},
      {"postgres://u:secret@h/db", "postgres://u@h/db"},
      {"postgresql://u:se%63ret@[::1]:5/db?sslmode=require",
       "postgresql://u@[::1]:5/db?sslmode=require"},
      {"postgresql:///db?host=/run/x&user=u&password=secret",
       "postgresql:///db?host=/run/x&user=u"},
      {"postgresql://h/db?sslpassword=secret&port=1", "postgresql://h/db?port=1"},
      {"postgresql://u:a?secret@h1:1,h2/db", "postgresql://u@h1:1,h2/db"},
      {"postgresql://", "postgresql://"},
      {"sqlite:a.db", "sqlite:a.db"},
      {"mysql://x", "mysql://x"},
      {"mysql://u:secret@x", "mysql://…"},
  };
  for (const auto& [url, shown] : cases) EXPECT_EQ(without_password(url), shown) << url;
}

// PostgreSQL's library would quote the piece that it stumbles over.
TEST(PostgresUrl, WhatIsNotUnderstoodIsRefusedWithoutAWordOfIt) {
  for (const char* url :
       {"postgresql://u:pa/secret@h/db", "postgresql://u:p@secret@h/db",
        "postgresql://u:secret%zz@h/db", "postgresql://u:secret%00@h/db",
        "postgresql://h:secret/db", "postgresql://u:x@h:secret/db", "postgresql://h/db?secret",
        "postgresql://h/db?password=a&secret=b", "postgresql://h/db?pasword=secret",
        "postgresql://h/db?password=secret%2", "postgresql://[::1/db?password=secret",
        "postgresql://[::1]secret/db", "postgresql://h/db:secret@x",
        "postgresql://h/db?password=a=secret", "postgresql://h/db/secret"}) {
    try {
      Store store(url, Access::kRead);
      FAIL() << url;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), Not(HasSubstr("secret"))) << url;
      EXPECT_THAT(error.what(), HasSubstr("'postgresql://…'")) << url;
    }
  }
}

TEST(PostgresUrl, GoesToTheLibraryWithoutAPasswordFromTheEnvironment) {
  EXPECT_EQ(connection_url("postgresql://h/db"),
            "postgresql://h/db?application_name=assay&connect_timeout=10&password=");
  EXPECT_EQ(connection_url("postgresql://u:p@h/db?connect_timeout=3"),
            "postgresql://u:p@h/db?connect_timeout=3&application_name=assay");
  EXPECT_EQ(connection_url("postgresql://h/db?password=p&"),
            "postgresql://h/db?password=p&application_name=assay&connect_timeout=10");
}

TEST(PostgresUrl, IsTakenOutOfTheArgumentsOfAProgram) {
  std::vector<std::string> words = {"assay", "--rounds=3", "--store=postgresql://u:secret@h/db",
                                    "source:postgres://h/db?password=secret", "postgresql://%"};
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  take_passwords(static_cast<int>(arguments.size()), arguments.data());
  EXPECT_STREQ(arguments[1], "--rounds=3");
  EXPECT_STREQ(arguments[2], "--store=postgresql://u@h/db");
  EXPECT_STREQ(arguments[3], "source:postgres://h/db");
  for (const auto& word : words) EXPECT_THAT(word, Not(HasSubstr("secret")));  // nor behind its end
  EXPECT_EQ(with_password("postgresql://u@h/db"), "postgresql://u:secret@h/db");
  EXPECT_EQ(with_password("postgres://h/db"), "postgres://h/db?password=secret");
  EXPECT_EQ(with_password("postgresql://other/db"), "postgresql://other/db");
  EXPECT_EQ(with_password(arguments[4]), "postgresql://%");
}

}  // namespace
}  // namespace assay::lab
