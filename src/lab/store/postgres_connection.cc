// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/postgres_connection.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "lab/store/postgres_url.h"
#include "lab/store/shown_source.h"

namespace assay::lab {
namespace {

// As long as SQLite is given: another writer's largest ingest, or a server's way back after a
// crash.
constexpr int kPatienceSeconds = 60;

// A server's message without its label, in one line.
std::string one_line_of(std::string text) {
  if (const auto end = text.find("\nLINE "); end != std::string::npos) text.resize(end);
  std::ranges::replace(text, '\n', ' ');
  while (text.ends_with(' ')) text.pop_back();
  for (const std::string_view label : {"ERROR:  ", "FATAL:  "}) {
    if (text.starts_with(label)) text.erase(0, label.size());
  }
  return text;
}

// Whether a server that is there, but not ready, has said so.
bool is_starting(const std::string& text) {
  return text.find("the database system is") != std::string::npos;
}

}  // namespace

PostgresConnection::Session::Session(const std::string& url)
    : connection(url), statements(std::make_unique<pqxx::nontransaction>(connection)) {}

PostgresConnection::PostgresConnection(const std::string& url) : name_(shown_source(url)) {
  check_postgres_url(url);
  url_ = connection_url(url);
  at_start(fmt::format(
      "SET client_min_messages = error; SET client_encoding = 'UTF8'; SET search_path = assay;"
      "SET lock_timeout = '{}s'; SET synchronous_commit = on;"
      // Answers are read to the end, and compiling a plan takes longer than most of them.
      "SET cursor_tuple_fraction = 1; SET jit = off;"
      // Lines are compressed in a fifth of the time, by servers that can.
      "SELECT set_config(name, 'lz4', false) FROM pg_settings"
      " WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals);",
      kPatienceSeconds));
  reconnect();
}

void PostgresConnection::at_start(std::string sql) {
  start_ += sql;
  if (session_) execute(sql);
}

void PostgresConnection::reconnect() {
  session_.reset();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kPatienceSeconds);
  while (!session_) {
    try {
      session_ = std::make_unique<Session>(url_);
    } catch (const pqxx::failure& error) {
      if (!is_starting(error.what()) || std::chrono::steady_clock::now() > end) raise(error);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  execute(start_);
}

void PostgresConnection::raise(const pqxx::failure& error) const {
  const auto text = one_line_of(error.what());
  const auto* refused = dynamic_cast<const pqxx::sql_error*>(&error);
  const std::string state = refused != nullptr ? refused->sqlstate() : "";
  if (refused == nullptr || is_lost()) {
    fail("the store's server cannot be reached, or was lost ({}): '{}'", text, name_);
  }
  if (state == "55P03") {
    fail("another program kept the store busy for {} s: '{}'", kPatienceSeconds, name_);
  }
  if (state == "25006") fail("the store is read-only and cannot be changed: '{}'", name_);
  if (state == "53100") fail("the store cannot be written, the disk is full: '{}'", name_);
  if (state == "XX001" || state == "XX002") fail("the store is damaged ({}): '{}'", text, name_);
  fail("the store cannot be used ({}): '{}'", text, name_);
}

}  // namespace assay::lab
