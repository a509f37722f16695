// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A PostgreSQL server of this process's own, started by the first test that asks for one.

#include <string>

namespace assay::lab {

class TestPostgresServer {
 public:
  // Null where PostgreSQL is not installed or Assay was built without it: `missing` then names the
  // package.
  static TestPostgresServer* get(std::string& missing);

  // The URL of a database of this name, made when it is not there. Its owner needs no password.
  std::string database(const std::string& name);
  // The same for a role, with more parameters, such as "password=…".
  std::string url(const std::string& name, const std::string& user,
                  const std::string& parameters = "") const;
  // Runs statements.
  void execute(const std::string& url, const std::string& sql);

  // SIGKILL; starts it again.
  void kill() { order("kill"); }
  void start() { order("start"); }

 private:
  TestPostgresServer();
  std::string order(const std::string& line);

  std::string folder_, answer_;
  int to_ = -1, from_ = -1;  // the server script's input, which ends it with us, and its output
};

}  // namespace assay::lab
