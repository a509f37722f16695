// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tests of a store that run over each kind of database.

#include <gtest/gtest.h>

#include <string>

#include "base/file.h"
#include "lab/store/sqlite.h"
#include "lab/store/test_postgres_server.h"

namespace assay::lab {

enum class Backend { kSqlite, kPostgres };
inline const auto kBackends = testing::Values(Backend::kSqlite, Backend::kPostgres);
inline std::string name_of_backend(const testing::TestParamInfo<Backend>& info) {
  return info.param == Backend::kSqlite ? "Sqlite" : "Postgres";
}

class OverBackends : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::kSqlite) return;
    std::string missing;
    server_ = TestPostgresServer::get(missing);
    if (server_ == nullptr) GTEST_SKIP() << missing;
  }

  // Of a store of this name, one for each name in a test.
  std::string url_of(const std::string& name) {
    if (server_ == nullptr) return "sqlite:" + dir_.path() + "/" + name;
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string database = std::string(test->test_suite_name()) + test->name() + name;
    return server_->database(
        database.substr(database.size() - std::min<std::size_t>(database.size(), 60)));
  }
  // Past the store.
  void change(const std::string& url, const std::string& sql) {
    if (server_ == nullptr) {
      SqliteConnection(url.substr(7), SqliteConnection::Mode::kReadWrite).execute(sql);
    } else {
      server_->execute(url, "SET search_path = assay; " + sql);
    }
  }

  TemporaryDirectory dir_;
  TestPostgresServer* server_ = nullptr;
};

}  // namespace assay::lab
