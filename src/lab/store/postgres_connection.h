// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// libpqxx with our errors. Private to lab/store: no other header includes it.

#include <memory>
#include <pqxx/pqxx>
#include <string>
#include <utility>

namespace assay::lab {

// One session. Everything that libpqxx throws becomes a UserError of one line that names the store
// without its password. Not for use by several threads at once, nor across fork().
class PostgresConnection {
 public:
  explicit PostgresConnection(const std::string& url);

  // Without a password.
  const std::string& name() const { return name_; }

  // Calls work(pqxx::transaction_base&), which may run any statement, BEGIN and COMMIT among them.
  template <typename Work>
  decltype(auto) run(Work work) {
    try {
      // libpqxx would make a new session in silence, without its settings and what was staged.
      if (is_lost()) throw pqxx::broken_connection();
      return work(*session_->statements);
    } catch (const pqxx::failure& error) {
      raise(error);
    }
  }
  pqxx::result execute(const std::string& sql) {
    return run([&](auto& statements) { return statements.exec(sql); });
  }

  // Whether the server is known to be gone.
  bool is_lost() const { return !session_ || !session_->connection.is_open(); }
  // A new session in place of the old one.
  void reconnect();
  // What every session begins with.
  void at_start(std::string sql);

 private:
  struct Session {
    explicit Session(const std::string& url);
    pqxx::connection connection;
    std::unique_ptr<pqxx::nontransaction> statements;
  };
  [[noreturn]] void raise(const pqxx::failure& error) const;

  std::string url_, name_, start_;
  std::unique_ptr<Session> session_;
};

}  // namespace assay::lab
