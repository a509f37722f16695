// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/test_postgres_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

#if ASSAY_HAS_POSTGRES
#include <libpq-fe.h>
#endif

namespace assay::lab {

TestPostgresServer* TestPostgresServer::get(std::string& missing) {
#if ASSAY_HAS_POSTGRES
  static TestPostgresServer server;  // stopped by the end of this process, whatever it is
  if (server.answer_ == "ready") return &server;
  missing = server.answer_;
#else
  missing = "missing: libpq-dev, when this was built";
#endif
  return nullptr;
}

TestPostgresServer::TestPostgresServer() {
  std::string folder = "/tmp/assay-postgres-XXXXXX";
  std::array<int, 2> in{}, out{};
  if (::mkdtemp(folder.data()) == nullptr || ::pipe2(in.data(), O_CLOEXEC) != 0 ||
      ::pipe2(out.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("no place for a server");
  }
  folder_ = folder;
  if (::fork() == 0) {
    ::setsid();  // it ends by its input, not by a terminal's signals
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::execl(ASSAY_POSTGRES_SERVER, ASSAY_POSTGRES_SERVER, folder_.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
  answer_ = order("");
}

std::string TestPostgresServer::order(const std::string& line) {
  if (!line.empty() && ::write(to_, (line + "\n").c_str(), line.size() + 1) < 0) {
    throw std::runtime_error("the server's script is gone");
  }
  std::string answer;
  for (char c = 0; ::read(from_, &c, 1) == 1 && c != '\n';) answer += c;
  if (answer.empty()) throw std::runtime_error("the test's server did not start");
  return answer;
}

std::string TestPostgresServer::url(const std::string& name, const std::string& user,
                                    const std::string& parameters) const {
  return fmt::format("postgresql://{}@/{}?host={}{}{}", user, name, folder_,
                     parameters.empty() ? "" : "&", parameters);
}

std::string TestPostgresServer::database(const std::string& wanted) {
  static std::set<std::string> made;
  std::string name = wanted;
  std::ranges::replace_if(
      name, [](char c) { return c == '/' || c == '.'; }, '-');
  if (made.insert(name).second)
    execute(url("postgres", "keeper"), fmt::format("CREATE DATABASE \"{}\"", name));
  return url(name, "keeper");
}

void TestPostgresServer::execute([[maybe_unused]] const std::string& url,
                                 [[maybe_unused]] const std::string& sql) {
#if ASSAY_HAS_POSTGRES
  PGconn* connection = PQconnectdb(url.c_str());
  PGresult* result = PQexec(connection, sql.c_str());
  const auto status = PQresultStatus(result);
  const std::string said = PQerrorMessage(connection);
  PQclear(result);
  PQfinish(connection);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) throw std::runtime_error(said);
#endif
}

}  // namespace assay::lab
