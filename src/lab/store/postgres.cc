// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/postgres.h"

#include <array>

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "lab/store/postgres_connection.h"
#include "lab/store/postgres_copy.h"
#include "lab/store/postgres_series.h"
#include "lab/store/store.h"

namespace assay::lab {
namespace {

// "ASSY": the lock that writers of one database hand on.
constexpr const char* kTakeLock = "SELECT pg_advisory_xact_lock(1095979865)";
constexpr const char* kTryLock = "SELECT pg_try_advisory_xact_lock(1095979865)";
// Columns of an attempt that are none of its series, and what a row of `attempt` is made of.
constexpr auto kAttemptIndices = std::to_array<std::size_t>({0, 1, 9, 10, 11, 12});
constexpr auto kAttemptColumns = std::to_array<const char*>(
    {"run_id", "attempt_id", "round", "try", "executed", "status", "sequence", "series", "line"});

// Lines are compressed in a fifth of the time, by servers that can.
constexpr const char* kCompression =
    "SELECT set_config(name, 'lz4', true) FROM pg_settings"
    " WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals);";

class PostgresRecord : public Record {
 public:
  explicit PostgresRecord(const PostgresResult& row) : row_(row) {}
  std::int64_t number(int column) const override { return row_.number(0, column); }
  std::string_view text(int column) const override { return row_.text(0, column); }

 private:
  const PostgresResult& row_;
};

void refuse_what_it_cannot_keep(const Columns& columns) {
  constexpr std::size_t kLongestIds = 2000;  // of the 2704 bytes that an index takes
  const auto& run = std::get<std::string>(columns[0]);
  const auto& attempt = std::get<std::string>(columns[1]);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto* text = std::get_if<std::string>(&columns[i]);
    if (text == nullptr || text->find('\0') == text->npos) continue;
    fail("PostgreSQL cannot keep a text with a NUL character: run {}, attempt {}, {} {}",
         canonical_json(run), canonical_json(attempt), kColumnNames[i], canonical_json(*text));
  }
  if (run.size() + attempt.size() > kLongestIds) {
    fail("PostgreSQL cannot keep ids of more than {} bytes together, got {}: run '{}…'",
         kLongestIds, run.size() + attempt.size(), run.substr(0, 40));
  }
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
    if (!is_reader_) check_rights();
  }

  std::string name() const override { return db_.name(); }
  std::string url() const override { return db_.name(); }
  std::string stamp() override { return fmt::format("{}", number("SELECT changes FROM store")); }

  void begin(Kind kind) override {
    const bool may_write = kind != Kind::kRead && !is_reader_;
    auto sql = fmt::format("BEGIN ISOLATION LEVEL {}{};{}",
                           kind == Kind::kRead ? "REPEATABLE READ" : "READ COMMITTED",
                           may_write ? "" : " READ ONLY", settings());
    if (may_write) sql += kCompression;
    in_transaction_ = true;
    try {
      // A server that was restarted since the last use is only noticed by asking it.
      first_step([&] { db_.execute(sql); });
      if (kind == Kind::kRead) return;
      if (kind == Kind::kWrite) {
        db_.execute(kTakeLock);
      } else if (db_.execute(kTryLock).text(0, 0) != "t") {
        throw StoreBusy(fmt::format("another program writes to the store: '{}'", name()));
      }
    } catch (...) {
      rollback();
      throw;
    }
    is_writing_ = true;
    series_.forget();
  }

  void commit() override {
    if (is_writing_) db_.execute("UPDATE store SET changes = changes + 1");
    db_.execute("COMMIT");
    in_transaction_ = is_writing_ = false;
  }

  void rollback() noexcept override {
    if (!in_transaction_) return;
    in_transaction_ = is_writing_ = false;
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
    db_.visit(sql, values, [&](const PostgresResult& row) { visitor(PostgresRecord(row)); });
  }

  std::int64_t change(const std::string& sql, std::span<const SqlValue> values) override {
    return db_.execute(sql, values).changed();
  }

  // Entries wait here: what is there is asked for by their ids, so that lines cross once and alone.
  void stage(std::span<const Entry> entries) override {
    for (const auto& entry : entries) refuse_what_it_cannot_keep(entry.columns);
    staged_ = entries;
  }

  std::vector<std::optional<Stored>> find_staged(std::span<const std::size_t> indices) override {
    std::vector<std::optional<Stored>> found(staged_.size());
    if (indices.empty()) return found;
    std::vector<std::string> run_ids, attempt_ids;
    for (const auto i : indices) {
      const auto& columns = staged_[i].columns;
      run_ids.push_back(text_of(columns[0]));
      attempt_ids.push_back(text_of(columns[1]));
    }
    const SqlValue values[] = {postgres_array(run_ids), postgres_array(attempt_ids)};
    // OFFSET 0: a look at the index for each, whatever the planner thinks of arrays.
    query(
        "SELECT position, sequence, encode(sha256(convert_to(line, 'UTF8')), 'hex')"
        " FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS given (run, attempt, position)"
        " CROSS JOIN LATERAL (SELECT sequence, line FROM attempt"
        "  WHERE run_id = given.run AND attempt_id = given.attempt OFFSET 0) AS there",
        values, [&](const Record& row) {
          const auto i = indices[static_cast<std::size_t>(row.number(0) - 1)];
          found[i] = Stored{row.number(1), row.text(2) == sha256_hex(staged_[i].line)};
        });
    return found;
  }

  void insert_staged(std::span<const Position> positions) override {
    if (positions.empty()) return;
    std::vector<const Columns*> columns;
    for (const auto& position : positions) columns.push_back(&entry_of(position).columns);
    const auto series = series_.ids_of(columns);
    // Whoever is in the way of a row at this point came without the lock, and is refused by the
    // index.
    PostgresCopy copy(db_, "attempt", kAttemptColumns);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      copy.begin_row();
      for (const auto column : kAttemptIndices) copy.add((*columns[i])[column]);
      copy.add(positions[i].sequence);
      copy.add(series[i]);
      copy.add(entry_of(positions[i]).line);
    }
    copy.complete();
  }

  // At once: all are what they were before, until all are what they become.
  void move(const std::string& run_id, std::span<const Move> moves) override {
    std::vector<std::string> from, to;
    for (const auto& move : moves) {
      from.push_back(fmt::format("{}", move.from));
      to.push_back(fmt::format("{}", move.to));
    }
    const SqlValue values[] = {run_id, postgres_array(from), postgres_array(to)};
    change(
        "UPDATE attempt SET sequence = move.becomes"
        " FROM unnest($2::bigint[], $3::bigint[]) AS move (was, becomes)"
        " WHERE run_id = $1 AND sequence = move.was",
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
        "CREATE INDEX ON before (id);"
        // Not TRUNCATE: who began to read before would find nothing.
        "DELETE FROM attempt; DELETE FROM series;"
        "DROP INDEX IF EXISTS attempt_identity, attempt_sequence, attempt_series;"
        // Of a table that was just emptied the planner thinks that every index finds a row at once:
        // while rows come back they are looked for, and there is but the one that does.
        "CREATE UNIQUE INDEX attempt_identity ON attempt (run_id, attempt_id)");
  }
  void drop_table_aside() override {
    db_.execute(
        "DROP TABLE before;"
        "CREATE INDEX attempt_sequence ON attempt (run_id, sequence);"
        "CREATE INDEX attempt_series ON attempt (series, run_id)");
  }

  void inspect(Inspector& inspector) override {
    for (const char* index : {"attempt_identity", "attempt_sequence", "attempt_series"}) {
      const auto sound = fmt::format(
          "SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass('assay.{0}') AND indisvalid"
          " AND (indisunique OR '{0}' <> 'attempt_identity')",
          index);
      if (number(sound) == 0) {
        inspector.problem(
            {}, {}, fmt::format("structure of the database: no index '{}' as it should be", index));
      }
    }
    series_.inspect(inspector);
    query(select_rows_sql(placed_attempts()), {}, [&](const Record& row) { inspector.row(row); });
  }

 private:
  const Entry& entry_of(const Position& position) const {
    return staged_[static_cast<std::size_t>(position.index)];
  }

  // Of each transaction, not of the session, which a pooler gives to others between two of them.
  static std::string settings() {
    return fmt::format(
        "SET LOCAL client_min_messages = error; SET LOCAL client_encoding = 'UTF8';"
        "SET LOCAL search_path = assay; SET LOCAL lock_timeout = '{}s';"
        "SET LOCAL synchronous_commit = on;"
        // Compiling a plan takes longer than most of them.
        "SET LOCAL jit = off;"
        // A server that crashed within a rebuild believes that the table is empty, until somebody
        // writes a lot: every row would be compared with every other one.
        "SELECT set_config('enable_nestloop', 'off', true) FROM pg_class"
        " WHERE oid = to_regclass('assay.attempt') AND reltuples = 0 AND relpages > 0;",
        kPatienceSeconds);
  }

  // A step after which nothing is lost by doing it again in a new session.
  template <typename Step>
  void first_step(Step step) {
    try {
      step();
    } catch (const UserError&) {
      if (!db_.is_lost()) throw;
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
    if (const auto rows = number("SELECT count(*) FROM assay.store"); rows != 1) {
      fail("the store is damaged: its table 'store' has {} rows, not one: '{}'", rows, name());
    }
    const auto version = number("SELECT version FROM assay.store");
    if (version < 1) fail("the store's version is damaged: {}: '{}'", version, name());
    return version;
  }

  void make() {
    Transaction transaction(*this, Kind::kWrite);
    if (version() == 0) {  // still: another process may have been first
      // Its owner may lack the right to make one.
      if (number("SELECT count(*) FROM pg_namespace WHERE nspname = 'assay'") == 0) {
        db_.execute("CREATE SCHEMA assay");
      }
      db_.execute(*postgres_steps().begin());
      db_.execute("UPDATE store SET version = 1");
    }
    transaction.commit();
  }

  // Told now, not after an hour of measuring.
  void check_rights() {
    const auto may = [&](const char* table, const char* right) {
      return number(fmt::format("SELECT has_table_privilege('assay.{}', '{}')::integer", table,
                                right)) != 0;
    };
    // A role's setting, or a server that follows another one.
    if (number("SELECT (pg_is_in_recovery() OR current_setting('default_transaction_read_only') = "
               "'on')::integer") != 0) {
      fail("the store may only be read: transactions of this role or server are read-only: '{}'",
           name());
    }
    if (may("attempt", "INSERT") && may("series", "INSERT") && may("store", "UPDATE")) return;
    fail("the store may only be read with this role: '{}'", name());
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

  PostgresConnection db_;
  bool is_reader_;
  bool in_transaction_ = false, is_writing_ = false;
  std::span<const Entry> staged_;
  PostgresSeries series_{db_};
};

}  // namespace

std::unique_ptr<Database> open_postgres(const std::string& url, Access access,
                                        std::span<const char* const> steps) {
  return std::make_unique<PostgresDatabase>(url, access, steps);
}

}  // namespace assay::lab
