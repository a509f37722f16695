// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// SQLite with owned handles and our errors. Private to lab/store: no other header includes it.

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace assay::lab {

// What SQLite refused, as one line that names the file; `code` tells damage from want of space.
class SqliteError : public UserError {
 public:
  SqliteError(int code, const std::string& message) : UserError(message), code_(code) {}
  int code() const { return code_; }  // without the extension: SQLITE_FULL, SQLITE_CORRUPT, …

 private:
  int code_;
};

class SqliteStatement;

// One connection. Not for use by several threads at once, nor across fork().
class SqliteConnection {
 public:
  enum class Mode {
    kCreate,     // read and write; makes the file when it is not there
    kReadWrite,  // the file must exist
    kQuery,      // as kReadWrite, but refuses to change content: leaves no side files behind
    kReadOnly,   // needs no permission to write
    kImmutable,  // as kReadOnly, in a folder where no side file can be made: nobody may be writing
  };
  SqliteConnection(const std::string& path, Mode mode);

  // Runs statements that give no rows.
  void execute(const std::string& sql);
  // The same; false, at once, where another keeps the store busy.
  bool try_execute(const std::string& sql);
  SqliteStatement prepare(const std::string& sql);
  // The first column of the first row.
  std::int64_t number(const std::string& sql);

  // Rows changed by the last INSERT, UPDATE or DELETE.
  std::int64_t changes() const { return sqlite3_changes64(handle_.get()); }
  bool in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }
  const std::string& path() const { return path_; }
  sqlite3* handle() const { return handle_.get(); }

  // Throws SqliteError for this result code.
  [[noreturn]] void raise(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// A prepared statement: bind in order, step, read, reset.
class SqliteStatement {
 public:
  SqliteStatement(SqliteConnection& db, const std::string& sql);

  // Parameters in order, from the first, each time after reset(). Texts are not copied: they must
  // outlive the step.
  SqliteStatement& bind(std::string_view text);
  SqliteStatement& bind(std::int64_t value);
  // Goes to the next row; false at the end.
  bool step();
  // For statements without rows: step() and reset().
  void run();
  void reset();

  std::int64_t number(int column) const;
  // Valid until the next step() or reset().
  std::string_view text(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
  };
  SqliteConnection* db_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  int next_parameter_ = 1;
};

}  // namespace assay::lab
