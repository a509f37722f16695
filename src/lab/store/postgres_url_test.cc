// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/postgres_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace assay::lab {
namespace {

using testing::HasSubstr;
using testing::Not;

// PostgreSQL's library would quote the piece that it stumbles over.
TEST(PostgresUrl, WhatIsNotUnderstoodIsRefusedWithoutAWordOfIt) {
  for (const char* url : {"postgresql://u:pa/secret@h/db", "postgresql://u:secret%zz@h/db",
                          "postgresql://h:secret/db", "postgresql://u%3Asecret@h/db",
                          "postgresql://u%3Asecret%40h/db", "postgresql://h/db?pasword=secret"}) {
    try {
      check_postgres_url(url);
      FAIL() << url;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), Not(HasSubstr("secret"))) << url;
      EXPECT_THAT(error.what(), HasSubstr("'postgresql://…'")) << url;
    }
  }
  for (const char* url :
       {"postgresql://", "postgresql://u%40x:p%2Fw@[::1]:5,h2:6/db?options=-ca%3D1",
        "postgres:///db?host=/run/x&password=a%3Ab"}) {
    EXPECT_NO_THROW(check_postgres_url(url)) << url;
  }
}

TEST(PostgresUrl, GoesToTheLibraryWithoutAPasswordFromTheEnvironment) {
  const std::string patience =
      "&keepalives_idle=30&keepalives_interval=10&keepalives_count=3&tcp_user_timeout=60000";
  EXPECT_EQ(
      connection_url("postgresql://h/db"),
      "postgresql://h/db?application_name=assay&connect_timeout=10" + patience + "&password=");
  EXPECT_EQ(connection_url("postgresql://u:p@h/db?connect_timeout=3"),
            "postgresql://u:p@h/db?connect_timeout=3&application_name=assay" + patience);
  EXPECT_EQ(connection_url("postgresql://h/db?password=p&"),
            "postgresql://h/db?password=p&application_name=assay&connect_timeout=10" + patience);
}

}  // namespace
}  // namespace assay::lab
