// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/sqlite_database.h"

#include <fmt/ranges.h>

#include <map>
#include <utility>

#include "base/error.h"
#include "lab/store/sqlite_open.h"
#include "lab/store/store.h"

namespace assay::lab {
namespace {

class SqliteRecord : public Record {
 public:
  explicit SqliteRecord(const SqliteStatement& row) : row_(row) {}
  std::int64_t number(int column) const override { return row_.number(column); }
  std::string_view text(int column) const override { return row_.text(column); }

 private:
  const SqliteStatement& row_;
};

template <typename Values>
void bind_all(SqliteStatement& statement, const Values& values) {
  for (const auto& value : values) {
    std::visit([&](const auto& v) { statement.bind(v); }, value);
  }
}

// Every column but the isolation, which is not kept: it is read from the line.
constexpr std::span kKeptColumns = std::span(kColumnNames).first(kColumnCount - 1);

class SqliteDatabase : public Database {
 public:
  SqliteDatabase(const std::string& path, Access access) : db_(open_store_file(path, access)) {}

  std::string name() const override { return db_.path(); }
  std::string url() const override { return "sqlite:" + db_.path(); }
  std::string stamp() override { return {}; }

  void begin(Kind kind) override {
    if (kind != Kind::kWriteAtOnce) {
      db_.execute(kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN");
    } else if (!db_.try_execute("BEGIN IMMEDIATE")) {
      throw StoreBusy(fmt::format("another program writes to the store: '{}'", name()));
    }
  }
  void commit() override { db_.execute("COMMIT"); }
  void rollback() noexcept override {
    // Some failures roll back by themselves; an error here would only hide the first one.
    if (db_.in_transaction()) sqlite3_exec(db_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }

  void query(const std::string& sql, std::span<const SqlValue> values,
             const RecordVisitor& visitor) override {
    auto statement = db_.prepare(sql);
    bind_all(statement, values);
    while (statement.step()) visitor(SqliteRecord(statement));
  }

  std::int64_t change(const std::string& sql, std::span<const SqlValue> values) override {
    auto statement = db_.prepare(sql);
    bind_all(statement, values);
    statement.run();
    return db_.changes();
  }

  void stage(std::span<const Entry> entries) override { staged_ = entries; }

  std::vector<std::optional<Stored>> find_staged(std::span<const std::size_t> indices) override {
    auto find =
        db_.prepare("SELECT sequence, line FROM attempt WHERE run_id = $1 AND attempt_id = $2");
    std::vector<std::optional<Stored>> found(staged_.size());
    for (const auto i : indices) {
      const auto& [columns, line] = staged_[i];
      bind_all(find, std::span(columns).first(2));
      if (find.step()) found[i] = Stored{find.number(0), find.text(1) == line};
      find.reset();
    }
    return found;
  }

  void insert_staged(std::span<const Position> positions) override {
    auto insert = db_.prepare(fmt::format(
        "INSERT INTO attempt ({}, sequence, line) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        fmt::join(kKeptColumns, ", ")));
    for (const auto& [index, sequence] : positions) {
      const auto& [columns, line] = staged_[static_cast<std::size_t>(index)];
      bind_all(insert, std::span(columns).first(kKeptColumns.size()));
      insert.bind(sequence).bind(line).run();
    }
  }

  // By way of places below 0, where none stands in another's way.
  void move(const std::string& run_id, std::span<const Move> moves) override {
    auto change = db_.prepare("UPDATE attempt SET sequence = ? WHERE run_id = ? AND sequence = ?");
    for (const auto& [from, to] : moves) change.bind(-1 - to).bind(run_id).bind(from).run();
    db_.prepare("UPDATE attempt SET sequence = -1 - sequence WHERE run_id = ? AND sequence < 0")
        .bind(run_id)
        .run();
  }

  // The isolation follows from the line, and a line that is damaged has none.
  std::string placed_attempts() const override {
    return "(SELECT *, CASE WHEN json_valid(line) THEN"
           " coalesce(json_extract(line, '$.provenance.isolation'), '') ELSE '' END AS isolation"
           " FROM attempt)";
  }

  std::string latest_ids() const override {
    return fmt::format(
        "WITH of_key AS ({2}), ranked AS ("
        "  SELECT *, row_number() OVER (PARTITION BY {0} ORDER BY says DESC, run_id DESC) AS place"
        "  FROM of_key)"
        " SELECT id FROM {1} JOIN ranked USING ({0}, run_id) WHERE place = 1",
        kSeriesColumns, placed_attempts(), runs_of_series_sql(placed_attempts()));
  }

  // Gives the space back to the file system.
  void tidy() override { db_.execute("PRAGMA incremental_vacuum"); }

  void set_table_aside() override {
    db_.execute(
        "DROP INDEX IF EXISTS attempt_identity; DROP INDEX IF EXISTS attempt_sequence;"
        "DROP INDEX IF EXISTS attempt_key; ALTER TABLE attempt RENAME TO before");
    create_table(db_);
    create_indexes(db_);
  }
  void drop_table_aside() override { db_.execute("DROP TABLE before"); }

  void inspect(Inspector& inspector) override {
    const Name store;
    guarded(inspector, store, [&] { check_structure(inspector); });
    // Rows are listed twice, by an index and by the table, and then read one by one: a page that
    // cannot be read costs its own rows only, and these can still be named.
    std::map<std::int64_t, Name> names;
    guarded(inspector, store, [&] {
      list(names,
           "SELECT id, run_id, attempt_id FROM attempt INDEXED BY attempt_identity"
           " ORDER BY run_id, attempt_id");
    });
    guarded(inspector, store,
            [&] { list(names, "SELECT id, run_id, attempt_id FROM attempt NOT INDEXED"); });
    guarded(inspector, store, [&] {
      auto fetch = db_.prepare(select_rows_sql(placed_attempts()) + " WHERE id = $1");
      for (const auto& [id, name] : names) {
        guarded(inspector, name, [&] {
          fetch.bind(id);
          if (!fetch.step()) fail("is in the index, but not in the table");
          inspector.row(SqliteRecord(fetch));
        });
        fetch.reset();
      }
    });
  }

 private:
  struct Name {
    std::string run_id, attempt_id;
  };

  // Nothing that a damaged file makes SQLite, the JSON parser or the allocator say ends the search.
  template <typename Look>
  static void guarded(Inspector& inspector, const Name& name, Look look) {
    try {
      look();
    } catch (const std::exception& error) {
      inspector.problem(name.run_id, name.attempt_id, error.what());
    }
  }

  void check_structure(Inspector& inspector) {
    query("PRAGMA integrity_check", {}, [&](const Record& row) {
      if (const auto text = row.text(0); text != "ok") {
        inspector.problem({}, {}, fmt::format("structure of the database: {}", text));
      }
    });
  }

  void list(std::map<std::int64_t, Name>& names, const std::string& sql) {
    query(sql, {}, [&](const Record& row) {
      names.try_emplace(row.number(0), Name{std::string(row.text(1)), std::string(row.text(2))});
    });
  }

  SqliteConnection db_;
  std::span<const Entry> staged_;
};

}  // namespace

std::unique_ptr<Database> open_sqlite(const std::string& path, Access access) {
  return std::make_unique<SqliteDatabase>(path, access);
}

}  // namespace assay::lab
