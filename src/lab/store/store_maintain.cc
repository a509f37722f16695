// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "lab/store/columns.h"
#include "lab/store/sqlite_open.h"
#include "lab/store/store.h"

namespace assay::lab {
namespace {

// Numbers each run's rows from 0 without gaps, in the order they have now.
void renumber(Database& db) {
  db.execute(
      "UPDATE attempt SET sequence = numbered.place FROM ("
      "  SELECT id AS of, row_number() OVER"
      "    (PARTITION BY run_id ORDER BY sequence, executed, attempt.id) - 1 AS place FROM attempt"
      ") AS numbered WHERE attempt.id = numbered.of AND attempt.sequence <> numbered.place");
}

}  // namespace

PruneReport Store::prune(int keep) {
  if (keep < 1) fail("prune: at least one run of each key must be kept, got {}", keep);
  Database& db = *db_;
  PruneReport report;
  WriteTransaction transaction(db);
  // oldest: of the runs that say something about a series, the keep-th newest.
  auto obsolete = db.prepare(
      fmt::format("WITH of_key AS ({1}), ranked AS ("
                  "  SELECT {0}, run_id AS oldest,"
                  "   row_number() OVER (PARTITION BY {0} ORDER BY run_id DESC) AS place"
                  "  FROM of_key WHERE says)"
                  " SELECT run_id, max(oldest IS NULL OR run_id >= oldest) AS kept"
                  " FROM of_key LEFT JOIN (SELECT * FROM ranked WHERE place = ?) USING ({0})"
                  " GROUP BY run_id",
                  kSeriesColumns, runs_of_series_sql()));
  std::vector<std::string> removed;
  obsolete.bind(std::int64_t{keep});
  while (obsolete.step()) {
    if (obsolete.number(1) != 0) {
      ++report.runs_kept;
    } else {
      removed.emplace_back(obsolete.text(0));
    }
  }
  obsolete.reset();
  auto remove = db.prepare("DELETE FROM attempt WHERE run_id = ?");
  for (const auto& run_id : removed) {
    remove.bind(run_id).run();
    ++report.runs_removed;
    report.rows_removed += db.changes();
  }
  db.execute("PRAGMA incremental_vacuum");  // gives the space back to the file system
  transaction.commit();
  return report;
}

std::int64_t Store::rebuild() {
  Database& db = *db_;
  WriteTransaction transaction(db);
  db.execute(
      "DROP INDEX IF EXISTS attempt_identity; DROP INDEX IF EXISTS attempt_sequence;"
      "DROP INDEX IF EXISTS attempt_key; ALTER TABLE attempt RENAME TO before");
  create_table(db);
  create_indexes(db);
  {
    auto read = db.prepare("SELECT sequence, line, run_id, attempt_id FROM before ORDER BY id");
    auto write = db.prepare(insert_row_sql());
    auto find = db.prepare("SELECT line FROM attempt WHERE run_id = ? AND attempt_id = ?");
    while (read.step()) {
      const auto line = read.text(1);
      const auto name =
          fmt::format("run '{}', attempt '{}' of '{}'", read.text(2), read.text(3), db.path());
      const Row row = row_from_line(line, name);
      const Columns columns = columns_of(row);
      bind_columns(write, columns);
      write.bind(read.number(0)).bind(line).run();
      if (db.changes() == 1) continue;
      // A damaged index may have let a row in twice; two contents of one key are beyond us.
      find.bind(row.run_id).bind(row.attempt_id).step();
      if (find.text(0) != line) fail("{}: is there twice, with different content", name);
      find.reset();
    }
  }
  db.execute("DROP TABLE before");
  renumber(db);
  const auto rows = db.number("SELECT count(*) FROM attempt");
  transaction.commit();
  return rows;
}

}  // namespace assay::lab
