// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>

#include "base/error.h"
#include "lab/store/columns.h"
#include "lab/store/store.h"

namespace assay::lab {
namespace {

class Ingest {
 public:
  explicit Ingest(Database& db)
      : db_(db),
        insert_(db.prepare(insert_row_sql())),
        find_(db.prepare("SELECT line, sequence FROM attempt WHERE run_id = ? AND attempt_id = ?")),
        count_(db.prepare(
            "SELECT count(*), coalesce(max(sequence) + 1, 0) FROM attempt WHERE run_id = ?")),
        move_(db.prepare("UPDATE attempt SET sequence = ? WHERE run_id = ? AND attempt_id = ?")) {}

  void add(const Batch& batch) {
    std::map<std::string, Run> runs;
    for (std::size_t i = 0; i < batch.journal.rows.size(); ++i) {
      const Row& row = batch.journal.rows[i];
      auto [it, first] = runs.try_emplace(row.run_id);
      if (first) it->second = look_up(row.run_id);
      add_row(row, batch.journal.lines[i], batch.name, it->second);
    }
    for (auto& [run_id, run] : runs) {
      const bool holds_all = static_cast<std::int64_t>(run.seen.size()) == run.stored_before;
      if (run.added > 0 && holds_all && !run.appended) {
        put_in_order(run_id, run.attempts);
      }
    }
  }

  IngestReport report;

 private:
  // What a batch and the store have of one run.
  struct Run {
    std::int64_t stored_before = 0;  // rows that the store had
    std::int64_t next_sequence = 0;  // for the next row that is new
    std::int64_t last_known = -1;    // sequence of the last row that both have
    std::int64_t added = 0;
    bool appended = true;  // so far, the batch is what the store has, in that order, then new rows
    std::set<std::string> seen;         // rows that both have
    std::vector<std::string> attempts;  // of the batch, in its order, each once
  };

  Run look_up(const std::string& run_id) {
    Run run;
    count_.bind(run_id).step();
    run.stored_before = count_.number(0);
    run.next_sequence = count_.number(1);
    count_.reset();
    return run;
  }

  void add_row(const Row& row, const std::string& line, const std::string& name, Run& run) {
    if (!line_is_untouched(line)) {
      fail("{}: run '{}', attempt '{}' was changed after it was written", name, row.run_id,
           row.attempt_id);
    }
    const Columns columns = columns_of(row);
    bind_columns(insert_, columns);
    insert_.bind(run.next_sequence).bind(line).run();
    if (db_.changes() == 1) {
      ++report.added;
      ++run.added;
      ++run.next_sequence;
      run.attempts.push_back(row.attempt_id);
      return;
    }
    find_.bind(row.run_id).bind(row.attempt_id);
    check(find_.step(), "a row in the way of another is there");
    const bool same = find_.text(0) == line;
    const auto sequence = find_.number(1);
    find_.reset();
    if (!same) {
      fail("{}: run '{}', attempt '{}' is already in the store with other content: '{}'", name,
           row.run_id, row.attempt_id, db_.path());
    }
    ++report.known;
    const bool stored_before = sequence < run.next_sequence - run.added;
    if (!stored_before || !run.seen.insert(row.attempt_id).second) return;  // twice in one batch
    run.appended = run.appended && run.added == 0 && sequence > run.last_known;
    run.last_known = sequence;
    run.attempts.push_back(row.attempt_id);
  }

  void put_in_order(const std::string& run_id, const std::vector<std::string>& attempts) {
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      move_.bind(static_cast<std::int64_t>(i)).bind(run_id).bind(attempts[i]).run();
    }
  }

  Database& db_;
  Statement insert_, find_, count_, move_;
};

}  // namespace

IngestReport Store::ingest(const std::function<std::optional<Batch>()>& next) {
  // The first batch is read before the lock is taken: usually it is the only one, and other writers
  // then wait for the writing alone.
  std::optional<Batch> batch = next();
  WriteTransaction transaction(*db_);
  Ingest ingest(*db_);
  for (; batch; batch = next()) ingest.add(*batch);
  transaction.commit();
  return ingest.report;
}

}  // namespace assay::lab
