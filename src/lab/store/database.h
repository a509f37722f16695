// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a store asks of a database. The store's own logic (what is new, what contradicts, in which
// order lines stand) is written once above this; SQLite and PostgreSQL stand below. Both have a
// table `attempt` with id, run_id, attempt_id, sequence, executed, status and line, and most SQL is
// the same text for both, with parameters $1, $2, … in the order in which they occur.
// Private to lab/store: no other header includes it.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lab/store/columns.h"

namespace assay::lab {

using SqlValue = std::variant<std::int64_t, std::string>;
std::string text_of(const SqlValue& value);

// A row of a query's answer; texts are valid during the visit.
class Record {
 public:
  virtual ~Record() = default;
  virtual std::int64_t number(int column) const = 0;
  virtual std::string_view text(int column) const = 0;
};
using RecordVisitor = std::function<void(const Record&)>;

// A row to be taken in.
struct Entry {
  Columns columns;
  std::string_view line;
};

// What a store has under the key of an entry.
struct Stored {
  std::int64_t sequence;
  bool same_line;
};

// What looking for damage finds.
class Inspector {
 public:
  virtual ~Inspector() = default;
  // Empty ids: it concerns the store as a whole.
  virtual void problem(const std::string& run_id, const std::string& attempt_id,
                       const std::string& message) = 0;
  // A row as selected_row() selects it.
  virtual void row(const Record& row) = 0;
};

class Database {
 public:
  virtual ~Database() = default;

  // How messages name the store, and its URL: never with a password.
  virtual std::string name() const = 0;
  virtual std::string url() const = 0;
  // Changes whenever the content does; empty where nobody but the file's own time tells.
  virtual std::string stamp() = 0;

  // kWrite: taken by one writer at a time, at once, so that two wait for each other instead of
  // failing half-way; kWriteAtOnce: StoreBusy where there is another. kRead: one state of the
  // store, whatever others write meanwhile.
  enum class Kind { kRead, kWrite, kWriteAtOnce };
  virtual void begin(Kind kind) = 0;
  virtual void commit() = 0;
  virtual void rollback() noexcept = 0;  // nothing where none is open

  virtual void query(const std::string& sql, std::span<const SqlValue> values,
                     const RecordVisitor& visitor) = 0;
  // Returns the number of rows changed.
  virtual std::int64_t change(const std::string& sql, std::span<const SqlValue> values) = 0;
  std::int64_t number(const std::string& sql);  // the first column of the only row

  // Says which entries, which must outlive their use, are meant below; before a write transaction
  // (whose lock others wait for) or in one. What the database cannot keep is a UserError.
  virtual void stage(std::span<const Entry> entries) = 0;
  // In a write transaction: for each staged entry what is there under its key; asked of these
  // indices alone.
  virtual std::vector<std::optional<Stored>> find_staged(std::span<const std::size_t> indices) = 0;
  // In a write transaction: the entries of these indices become rows at these places of their run.
  struct Position {
    std::int64_t index, sequence;
  };
  virtual void insert_staged(std::span<const Position> positions) = 0;
  // In a write transaction: rows of a run go from these places to others.
  struct Move {
    std::int64_t from, to;
  };
  virtual void move(const std::string& run_id, std::span<const Move> moves) = 0;

  // Something to select from that has all of kColumnNames and the isolation beside `attempt`.
  virtual std::string placed_attempts() const = 0;
  // A query for the ids of the rows that Selection::latest means.
  virtual std::string latest_ids() const = 0;
  // In a write transaction, after rows were removed.
  virtual void tidy() = 0;
  // In a write transaction: the table becomes `before`, and an empty one stands in its place.
  virtual void set_table_aside() = 0;
  virtual void drop_table_aside() = 0;

  // In a read transaction: what is wrong with the database itself, and every row that can be read.
  virtual void inspect(Inspector& inspector) = 0;
};

// Rolled back unless commit() was reached.
class Transaction {
 public:
  Transaction(Database& db, Database::Kind kind) : db_(db) { db_.begin(kind); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() { db_.rollback(); }
  void commit() { db_.commit(); }

 private:
  Database& db_;
};

}  // namespace assay::lab
