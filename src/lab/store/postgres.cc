// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/postgres.h"

#include <fmt/ranges.h>

#include <array>
#include <map>

#include "base/error.h"
#include "base/hash.h"
#include "lab/store/postgres_connection.h"

namespace assay::lab {
namespace {

// "ASSY": the lock that writers of one database hand on.
constexpr const char* kTakeLock = "SELECT pg_advisory_xact_lock(1095979865)";
// Rows of an answer that are in memory at once.
constexpr int kRecordsAtOnce = 1000;
// Where the columns of a series stand in kColumnNames, in the order of kSeriesColumns.
constexpr auto kSeriesIndices = std::to_array<std::size_t>({2, 3, 4, 5, 6, 7, 8, 13});

class PostgresRecord : public Record {
 public:
  explicit PostgresRecord(const pqxx::row& row) : row_(row) {}
  std::int64_t number(int column) const override {
    return row_[column].is_null() ? 0 : row_[column].as<std::int64_t>();
  }
  std::string_view text(int column) const override {
    const auto field = row_[column];
    return {field.c_str(), field.size()};
  }

 private:
  const pqxx::row& row_;
};

std::string text_of(const SqlValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr ? *text : fmt::format("{}", std::get<std::int64_t>(value));
}

pqxx::result execute_with(pqxx::transaction_base& statements, const std::string& sql,
                          std::span<const SqlValue> values) {
  std::vector<std::string> texts;
  for (const auto& value : values) texts.push_back(text_of(value));
  return statements.exec_params(sql, pqxx::prepare::make_dynamic_params(texts));
}

std::string series_key(const Columns& columns) {
  std::string text;
  for (const auto i : kSeriesIndices) {
    const auto part = text_of(columns[i]);
    text += fmt::format("{}:{}", part.size(), part);  // no two series give one text
  }
  return sha256_hex(text);
}

class PostgresDatabase : public Database {
 public:
  PostgresDatabase(const std::string& url, Access access, std::span<const char* const> steps)
      : db_(url), is_reader_(access == Access::kRead) {
    if (number("SELECT (current_setting('server_encoding') <> 'UTF8')::integer") != 0) {
      fail("the database is not of encoding UTF8: '{}'", name());
    }
    if (access == Access::kCreate && version() == 0) make();
    bring_forward(steps);
    if (is_reader_) db_.at_start("SET default_transaction_read_only = on;");
  }

  std::string name() const override { return db_.name(); }
  std::string url() const override { return db_.name(); }
  std::string stamp() override { return fmt::format("{}", number("SELECT changes FROM store")); }

  void begin(Kind kind) override {
    const char* sql = kind == Kind::kWrite ? "BEGIN ISOLATION LEVEL READ COMMITTED"
                                           : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    // A server that was restarted since the last use is only noticed by asking it.
    first_step([&] { db_.execute(sql); });
    in_transaction_ = true;
    if (kind == Kind::kRead) return;
    try {
      db_.execute(kTakeLock);
    } catch (...) {
      rollback();
      throw;
    }
    is_writing_ = true;
  }

  void commit() override {
    if (is_writing_) db_.execute("UPDATE store SET changes = changes + 1");
    db_.execute("COMMIT");
    in_transaction_ = is_writing_ = false;
    staged_rows_ = 0;
  }

  void rollback() noexcept override {
    if (!in_transaction_) return;
    in_transaction_ = is_writing_ = false;
    staged_rows_ = 0;
    try {
      db_.execute("ROLLBACK");
    } catch (...) {  // the server is gone, and the transaction with it
    }
  }

  void query(const std::string& sql, std::span<const SqlValue> values,
             const RecordVisitor& visitor) override {
    if (!in_transaction_) {
      Transaction transaction(*this, Kind::kRead);
      query(sql, values, visitor);
      transaction.commit();
      return;
    }
    const auto cursor = fmt::format("c{}", ++cursors_);
    db_.run([&](auto& statements) {
      execute_with(statements, fmt::format("DECLARE {} NO SCROLL CURSOR FOR {}", cursor, sql),
                   values);
    });
    for (bool more = true; more;) {
      const auto records = db_.execute(fmt::format("FETCH {} FROM {}", kRecordsAtOnce, cursor));
      for (const auto& row : records) visitor(PostgresRecord(row));
      more = static_cast<int>(records.size()) == kRecordsAtOnce;
    }
    db_.execute(fmt::format("CLOSE {}", cursor));
  }

  std::int64_t change(const std::string& sql, std::span<const SqlValue> values) override {
    const auto result =
        db_.run([&](auto& statements) { return execute_with(statements, sql, values); });
    return static_cast<std::int64_t>(result.affected_rows());
  }

  void stage(std::vector<Entry> entries) override {
    staged_rows_ = 0;
    if (in_transaction_) {
      copy(entries);
    } else {
      first_step([&] { copy(entries); });
    }
    staged_rows_ = entries.size();
  }

  std::vector<std::optional<Stored>> find_staged() override {
    std::vector<std::optional<Stored>> found(staged_rows_);
    query(
        "SELECT position, sequence, CASE WHEN attempt.line = staged.line THEN 1 ELSE 0 END"
        " FROM staged JOIN attempt USING (run_id, attempt_id)",
        {}, [&](const Record& row) {
          found[static_cast<std::size_t>(row.number(0))] =
              Stored{row.number(1), row.number(2) != 0};
        });
    return found;
  }

  void insert_staged(std::span<const Position> positions) override {
    if (positions.empty()) return;
    db_.execute(
        fmt::format("INSERT INTO series (key, {0}) SELECT DISTINCT ON (key) key, {0} FROM staged"
                    " WHERE NOT EXISTS (SELECT FROM series WHERE series.key = staged.key)",
                    kSeriesColumns));
    std::string indices, sequences;
    for (const auto& [index, sequence] : positions) {
      indices += fmt::format("{}{}", indices.empty() ? "" : ",", index);
      sequences += fmt::format("{}{}", sequences.empty() ? "" : ",", sequence);
    }
    const SqlValue values[] = {"{" + indices + "}", "{" + sequences + "}"};
    // Whoever is in the way of a row at this point came without the lock, and is refused by the
    // index.
    change(
        "INSERT INTO attempt (sequence, run_id, attempt_id, series, round, try, executed, status,"
        " line) SELECT at.sequence, run_id, attempt_id, series.id, round, try, executed, status,"
        " line FROM unnest($1::bigint[], $2::bigint[]) AS at (position, sequence)"
        " JOIN staged USING (position) JOIN series USING (key) ORDER BY position",
        values);
  }

  std::string placed_attempts() const override { return "placed"; }

  // A series has few looks at an index, however many runs it has.
  std::string latest_ids() const override {
    return "SELECT attempt.id FROM series"
           " CROSS JOIN LATERAL (SELECT coalesce("
           "  (SELECT run_id FROM attempt WHERE attempt.series = series.id"
           "   AND status NOT IN ('excluded', 'interrupted') ORDER BY run_id DESC LIMIT 1),"
           "  (SELECT run_id FROM attempt WHERE attempt.series = series.id"
           "   ORDER BY run_id DESC LIMIT 1)) AS run_id) AS newest"
           " JOIN attempt ON attempt.series = series.id AND attempt.run_id = newest.run_id";
  }

  void tidy() override {
    db_.execute(
        "DELETE FROM series WHERE NOT EXISTS"
        " (SELECT FROM attempt WHERE attempt.series = series.id)");
  }

  // The table itself stays, since roles have rights to it.
  void set_table_aside() override {
    db_.execute(
        "CREATE TEMPORARY TABLE before ON COMMIT DROP AS"
        " SELECT id, sequence, line, run_id, attempt_id FROM attempt;"
        "TRUNCATE attempt, series RESTART IDENTITY;"
        "DROP INDEX IF EXISTS attempt_identity, attempt_sequence, attempt_series;"
        "CREATE UNIQUE INDEX attempt_identity ON attempt (run_id, attempt_id);"
        "CREATE INDEX attempt_sequence ON attempt (run_id, sequence);"
        "CREATE INDEX attempt_series ON attempt (series, run_id)");
  }
  void drop_table_aside() override { db_.execute("DROP TABLE before"); }

  void inspect(Inspector& inspector) override {
    for (const char* index : {"attempt_identity", "attempt_sequence", "attempt_series"}) {
      const auto sound = fmt::format(
          "SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass('assay.{}') AND indisvalid",
          index);
      if (number(sound) == 0) {
        inspector.problem({}, {}, fmt::format("structure of the database: no index '{}'", index));
      }
    }
    query(select_rows_sql(placed_attempts()), {}, [&](const Record& row) { inspector.row(row); });
  }

 private:
  // A step after which nothing is lost by doing it again in a new session.
  template <typename Step>
  void first_step(Step step) {
    try {
      step();
    } catch (const UserError&) {
      if (!db_.is_lost() || staged_rows_ > 0) throw;
      db_.reconnect();
      step();
    }
  }

  std::int64_t version() {
    // Not by to_regclass(), which within a transaction may answer from before another's commit.
    if (number("SELECT count(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace"
               " WHERE nspname = 'assay' AND relname = 'store'") == 0) {
      return 0;
    }
    return number("SELECT version FROM assay.store");
  }

  void make() {
    Transaction transaction(*this, Kind::kWrite);
    if (version() == 0) {  // still: another process may have been first
      db_.execute("CREATE SCHEMA IF NOT EXISTS assay");
      db_.execute(*postgres_steps().begin());
      db_.execute("UPDATE store SET version = 1");
    }
    transaction.commit();
  }

  void bring_forward(std::span<const char* const> steps) {
    const auto known = static_cast<std::int64_t>(steps.size());
    auto now = version();
    if (now == 0) fail("no such store: '{}'", name());
    if (now < known && is_reader_) {
      fail("the store is of version {}; whoever writes to it next brings it to {}: '{}'", now,
           known, name());
    }
    if (now < known) {
      Transaction transaction(*this, Kind::kWrite);
      for (now = version(); now < known; ++now) db_.execute(steps[static_cast<std::size_t>(now)]);
      const SqlValue to = now;
      change("UPDATE store SET version = $1::integer", {&to, 1});
      transaction.commit();
    }
    if (now > known) {
      fail("the store is of version {}, this program knows up to {}; a newer assay is needed: '{}'",
           now, known, name());
    }
  }

  // Fills the table `staged`, which only this session sees.
  void copy(const std::vector<Entry>& entries) {
    db_.execute(
        "CREATE TEMPORARY TABLE IF NOT EXISTS staged (position bigint, key text COLLATE \"C\","
        " run_id text COLLATE \"C\", attempt_id text COLLATE \"C\", suite text, case_name text,"
        " point text, provider text, platform text, fingerprint text, cores bigint, round bigint,"
        " try bigint, executed bigint, status text, isolation text, line text);"
        "TRUNCATE staged");
    db_.run([&](auto& statements) {
      pqxx::stream_to stream(statements, "staged");
      std::array<std::string, kColumnCount + 3> fields;
      for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto& [columns, line] = entries[i];
        fields[0] = fmt::format("{}", i);
        fields[1] = series_key(columns);
        for (std::size_t c = 0; c < columns.size(); ++c) fields[c + 2] = text_of(columns[c]);
        fields.back() = line;
        for (const auto& field : fields) {
          if (field.find('\0') == std::string::npos) continue;
          fail("PostgreSQL cannot keep a text with a NUL character: run '{}', attempt '{}'",
               fields[2], fields[3]);
        }
        stream << fields;
      }
      stream.complete();
    });
  }

  PostgresConnection db_;
  bool is_reader_;
  bool in_transaction_ = false, is_writing_ = false;
  std::size_t staged_rows_ = 0;
  std::int64_t cursors_ = 0;
};

}  // namespace

std::unique_ptr<Database> open_postgres(const std::string& url, Access access,
                                        std::span<const char* const> steps) {
  return std::make_unique<PostgresDatabase>(url, access, steps);
}

}  // namespace assay::lab
