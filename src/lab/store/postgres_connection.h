// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// PostgreSQL's own library with our errors. Private to lab/store: no other header includes it.

#include <libpq-fe.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "lab/store/database.h"

namespace assay::lab {

// As long as SQLite is given: another writer's largest ingest, or a server's way back after a
// crash.
inline constexpr int kPatienceSeconds = 60;

// An array of texts, as the value of a parameter.
std::string postgres_array(std::span<const std::string> texts);

// What a statement answered. Its texts live as long as it does.
class PostgresResult {
 public:
  explicit PostgresResult(PGresult* result) : result_(result, &PQclear) {}
  int rows() const { return PQntuples(result_.get()); }
  std::string_view text(int row, int column) const;
  std::int64_t number(int row, int column) const;  // 0 where there is none
  std::int64_t changed() const;                    // rows, by the statement

 private:
  std::unique_ptr<PGresult, decltype(&PQclear)> result_;
};

// One session. Whatever goes wrong is a UserError of one line that names the store without its
// password. Not for use by several threads at once, nor across fork().
class PostgresConnection {
 public:
  explicit PostgresConnection(const std::string& url);

  // Without a password.
  const std::string& name() const { return name_; }

  // Any statements, BEGIN and COMMIT among them; returns what the last one answered.
  PostgresResult execute(const std::string& sql);
  // One statement with parameters $1, $2, …
  PostgresResult execute(const std::string& sql, std::span<const SqlValue> values);

  // One statement with parameters whose rows are visited one by one as they come: a row's size is
  // all that is in memory. The session is busy until it returns.
  using RowVisitor = std::function<void(const PostgresResult&)>;  // of one row
  void visit(const std::string& sql, std::span<const SqlValue> values, const RowVisitor& visitor);

  // COPY … FROM STDIN: what it reads, in pieces of any size, and its end. Where that does not come,
  // the next statement ends it as an error. See PostgresCopy.
  void begin_copy(const std::string& sql);
  void copy(std::string_view bytes);
  void end_copy();

  // Whether the server is known to be gone.
  bool is_lost() const { return PQstatus(session_.get()) != CONNECTION_OK; }
  // A new session in place of the old one.
  void reconnect();

 private:
  PostgresResult checked(PGresult* result, ExecStatusType other = PGRES_COMMAND_OK) const;
  [[noreturn]] void raise(const PGresult* refusal) const;
  [[noreturn]] void raise_lost() const;

  void give_up_answer() noexcept;

  std::string url_, name_;
  std::unique_ptr<PGconn, decltype(&PQfinish)> session_{nullptr, &PQfinish};
};

}  // namespace assay::lab
