// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "lab/store/database.h"
#include "lab/store/store.h"

namespace assay::lab {
namespace {

// What `rebuild` has in hand at once, at most, but for a longer line.
constexpr std::int64_t kRowsAtOnce = 1000, kCharactersAtOnce = 8 << 20;

// Numbers each run's rows from 0 without gaps, in the order they have now.
void renumber(Database& db) {
  db.change(
      "UPDATE attempt SET sequence = numbered.place FROM ("
      "  SELECT id AS numbered_id, row_number() OVER"
      "    (PARTITION BY run_id ORDER BY sequence, executed, id) - 1 AS place FROM attempt"
      ") AS numbered WHERE attempt.id = numbered.numbered_id AND attempt.sequence <> "
      "numbered.place",
      {});
}

struct Ids {
  std::int64_t first, last;
};
std::vector<Ids> pieces_of_before(Database& db) {
  std::vector<Ids> pieces;
  std::int64_t rows = kRowsAtOnce, characters = 0;  // of the last piece
  db.query("SELECT id, length(line) FROM before ORDER BY id", {}, [&](const Record& row) {
    const auto id = row.number(0);
    characters += row.number(1);
    if (++rows > kRowsAtOnce || characters > kCharactersAtOnce) {
      pieces.push_back({id, id});
      rows = 1;
      characters = row.number(1);
    }
    pieces.back().last = id;
  });
  return pieces;
}

// Lines on their way into the new table.
class Rebuild {
 public:
  explicit Rebuild(Database& db) : db_(db) {}

  // A row of the old table: sequence, line, run_id, attempt_id.
  void add(const Record& old) {
    const auto& line = lines_.emplace_back(old.text(1));
    names_.push_back(
        fmt::format("run '{}', attempt '{}' of '{}'", old.text(2), old.text(3), db_.name()));
    entries_.push_back({columns_of_line(line, [&] { return names_.back(); }), line});
    sequences_.push_back(old.number(0));
  }

  void flush() {
    db_.stage(entries_);
    std::vector<std::size_t> all(entries_.size());
    std::iota(all.begin(), all.end(), 0);
    const auto stored = db_.find_staged(all);
    std::map<std::pair<SqlValue, SqlValue>, std::size_t> first;  // by run and attempt
    std::vector<Database::Position> positions;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const auto& [columns, line] = entries_[i];
      const auto [it, is_new] = first.try_emplace(std::pair(columns[0], columns[1]), i);
      // A damaged index may have let a row in twice; two contents of one key are beyond us.
      const bool same =
          is_new ? !stored[i] || stored[i]->same_line : entries_[it->second].line == line;
      if (!same) fail("{}: is there twice, with different content", names_[i]);
      if (is_new && !stored[i]) positions.push_back({static_cast<std::int64_t>(i), sequences_[i]});
    }
    db_.insert_staged(positions);
    lines_.clear();
    names_.clear();
    entries_.clear();
    sequences_.clear();
  }

 private:
  Database& db_;
  std::deque<std::string> lines_;  // which stay where they are
  std::vector<std::string> names_;
  std::vector<Entry> entries_;
  std::vector<std::int64_t> sequences_;
};

}  // namespace

PruneReport Store::prune(int keep) {
  if (keep < 1) fail("prune: at least one run of each key must be kept, got {}", keep);
  Database& db = *db_;
  PruneReport report;
  Transaction transaction(db, Database::Kind::kWrite);
  // oldest: of the runs that say something about a series, the keep-th newest.
  const auto obsolete = fmt::format(
      "WITH of_key AS ({1}), ranked AS ("
      "  SELECT {0}, run_id AS oldest,"
      "   row_number() OVER (PARTITION BY {0} ORDER BY run_id DESC) AS place"
      "  FROM of_key WHERE says = 1)"
      " SELECT run_id,"
      "  max(CASE WHEN oldest IS NULL OR run_id >= oldest THEN 1 ELSE 0 END) AS kept"
      " FROM of_key LEFT JOIN (SELECT * FROM ranked WHERE place = $1) AS last"
      " USING ({0}) GROUP BY run_id",
      kSeriesColumns, runs_of_series_sql(db.placed_attempts()));
  std::vector<std::string> removed;
  const SqlValue kept_runs = std::int64_t{keep};
  db.query(obsolete, {&kept_runs, 1}, [&](const Record& row) {
    if (row.number(1) != 0) {
      ++report.runs_kept;
    } else {
      removed.emplace_back(row.text(0));
    }
  });
  for (const auto& run_id : removed) {
    const SqlValue id = run_id;
    ++report.runs_removed;
    report.rows_removed += db.change("DELETE FROM attempt WHERE run_id = $1", {&id, 1});
  }
  db.tidy();
  transaction.commit();
  return report;
}

std::int64_t Store::rebuild() {
  Database& db = *db_;
  Transaction transaction(db, Database::Kind::kWrite);
  db.set_table_aside();
  Rebuild rebuild(db);
  for (const auto& [first, last] : pieces_of_before(db)) {
    const SqlValue ids[] = {first, last};
    db.query(
        "SELECT sequence, line, run_id, attempt_id FROM before WHERE id BETWEEN $1 AND $2"
        " ORDER BY id",
        ids, [&](const Record& old) { rebuild.add(old); });
    rebuild.flush();
  }
  db.drop_table_aside();
  renumber(db);
  const auto rows = db.number("SELECT count(*) FROM attempt");
  transaction.commit();
  return rows;
}

}  // namespace assay::lab
