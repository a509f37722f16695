// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/sqlite.h"

#include <cctype>
#include <utility>

namespace assay::lab {
namespace {

// Long enough for another writer's largest ingest, short enough that a person still waits.
constexpr int kBusyTimeoutMs = 60'000;
// No line comes near this; a damaged length must not ask for a gigabyte.
constexpr int kMaxLength = 256 << 20;

}  // namespace

SqliteConnection::SqliteConnection(const std::string& path, Mode mode) : path_(path) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  // "./" keeps names such as ":memory:" from their special meaning.
  std::string name = path.starts_with('/') ? path : "./" + path;
  switch (mode) {
    case Mode::kCreate:
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
      break;
    case Mode::kReadWrite:
    case Mode::kQuery:
      flags |= SQLITE_OPEN_READWRITE;
      break;
    case Mode::kReadOnly:
      flags |= SQLITE_OPEN_READONLY;
      break;
    case Mode::kImmutable: {
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
      std::string encoded;
      for (const unsigned char c : name) {
        const bool plain = c == '/' || c == '.' || c == '-' || c == '_' ||
                           (c < 0x80 && std::isalnum(static_cast<int>(c)));
        encoded += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02x}", c);
      }
      name = fmt::format("file:{}?immutable=1", encoded);
      break;
    }
  }
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &raw, flags, nullptr);
  handle_.reset(raw);  // to be closed even after a failure
  if (code != SQLITE_OK) raise(code);
  sqlite3_busy_timeout(raw, kBusyTimeoutMs);
  sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, kMaxLength);
  // A file from elsewhere may hold anything: no functions in its schema, no trust in its sizes.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  execute("PRAGMA cell_size_check = ON");
  if (mode == Mode::kQuery) execute("PRAGMA query_only = ON");
}

void SqliteConnection::raise(int code) const {
  const auto error = [&]<typename... Args>(fmt::format_string<Args...> format, Args&&... args) {
    return SqliteError(code & 0xff, fmt::format(format, std::forward<Args>(args)...));
  };
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw error("another program kept the store busy for {} s: '{}'", kBusyTimeoutMs / 1000,
                  path_);
    case SQLITE_NOTADB:
      throw error("not a database: '{}'", path_);
    case SQLITE_CORRUPT:
      throw error("the store is damaged ('assay store verify' tells where): '{}'", path_);
    case SQLITE_READONLY:
      throw error("the store is read-only and cannot be changed: '{}'", path_);
    case SQLITE_FULL:
      throw error("the store cannot be written, the disk is full: '{}'", path_);
    default: {
      const char* text = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
      const int system = handle_ ? sqlite3_system_errno(handle_.get()) : 0;
      throw error("the store cannot be used ({}{}{}): '{}'", text, system != 0 ? ", " : "",
                  system != 0 ? errno_text(system) : "", path_);
    }
  }
}

void SqliteConnection::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) raise(code);
}

bool SqliteConnection::try_execute(const std::string& sql) {
  sqlite3_busy_timeout(handle_.get(), 0);
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  sqlite3_busy_timeout(handle_.get(), kBusyTimeoutMs);
  if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) raise(code);
  return code == SQLITE_OK;
}

SqliteStatement SqliteConnection::prepare(const std::string& sql) {
  return SqliteStatement(*this, sql);
}

std::int64_t SqliteConnection::number(const std::string& sql) {
  SqliteStatement statement(*this, sql);
  check(statement.step(), "a query for one number has a row");
  return statement.number(0);
}

SqliteStatement::SqliteStatement(SqliteConnection& db, const std::string& sql) : db_(&db) {
  sqlite3_stmt* raw = nullptr;
  const int code =
      sqlite3_prepare_v2(db.handle(), sql.c_str(), static_cast<int>(sql.size()), &raw, nullptr);
  handle_.reset(raw);
  if (code != SQLITE_OK) db.raise(code);
}

SqliteStatement& SqliteStatement::bind(std::string_view text) {
  // An empty view may have no address, which SQLite would store as NULL.
  const char* data = text.data() == nullptr ? "" : text.data();
  const int code = sqlite3_bind_text64(handle_.get(), next_parameter_++, data, text.size(),
                                       SQLITE_STATIC, SQLITE_UTF8);
  if (code != SQLITE_OK) db_->raise(code);
  return *this;
}

SqliteStatement& SqliteStatement::bind(std::int64_t value) {
  const int code = sqlite3_bind_int64(handle_.get(), next_parameter_++, value);
  if (code != SQLITE_OK) db_->raise(code);
  return *this;
}

bool SqliteStatement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  db_->raise(code);
}

void SqliteStatement::run() {
  while (step()) {
  }
  reset();
}

void SqliteStatement::reset() {
  sqlite3_reset(handle_.get());  // repeats the error of the last step, which was already thrown
  next_parameter_ = 1;
}

std::int64_t SqliteStatement::number(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

std::string_view SqliteStatement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

}  // namespace assay::lab
