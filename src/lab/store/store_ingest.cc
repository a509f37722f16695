// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <future>
#include <map>

#include "base/error.h"
#include "lab/store/database.h"
#include "lab/store/store.h"

namespace assay::lab {
namespace {

class Ingest {
 public:
  explicit Ingest(Database& db) : db_(db) {}

  // Before add(), and where possible before the lock that other writers wait for.
  void stage(const Batch& batch) {
    std::vector<Entry> entries;
    entries.reserve(batch.journal.rows.size());
    for (std::size_t i = 0; i < batch.journal.rows.size(); ++i) {
      const Row& row = batch.journal.rows[i];
      if (!line_is_untouched(batch.journal.lines[i])) {
        fail("{}: run '{}', attempt '{}' was changed after it was written", batch.name, row.run_id,
             row.attempt_id);
      }
      entries.push_back({columns_of(row), batch.journal.lines[i]});
    }
    db_.stage(std::move(entries));
  }

  void add(const Batch& batch) {
    const auto stored = db_.find_staged();
    std::map<std::string, Run> runs;
    std::vector<Database::Position> positions;
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const Row& row = batch.journal.rows[i];
      const auto& line = batch.journal.lines[i];
      auto [it, is_first] = runs.try_emplace(row.run_id);
      Run& run = it->second;
      if (is_first) run = look_up(row.run_id);
      const auto [before, is_new] = run.lines.try_emplace(row.attempt_id, &line);
      const bool same = is_new ? !stored[i] || stored[i]->same_line : *before->second == line;
      if (!same && !is_new) {
        fail("{}: run '{}', attempt '{}' is there twice, with different content", batch.name,
             row.run_id, row.attempt_id);
      }
      if (!same) {
        fail("{}: run '{}', attempt '{}' is already in the store with other content: '{}'",
             batch.name, row.run_id, row.attempt_id, db_.name());
      }
      if (!is_new || stored[i]) ++report.known;
      if (!is_new) continue;  // twice in one batch
      run.attempts.push_back(row.attempt_id);
      if (stored[i]) {
        ++run.known;
        run.appended = run.appended && run.added == 0 && stored[i]->sequence > run.last_known;
        run.last_known = stored[i]->sequence;
      } else {
        positions.push_back({static_cast<std::int64_t>(i), run.next_sequence++});
        ++run.added;
        ++report.added;
      }
    }
    db_.insert_staged(positions);
    for (const auto& [run_id, run] : runs) {
      const bool holds_all = run.known == run.stored_before;
      if (run.added > 0 && holds_all && !run.appended) put_in_order(run_id, run.attempts);
    }
  }

  IngestReport report;

 private:
  // What a batch and the store have of one run.
  struct Run {
    std::int64_t stored_before = 0;  // rows that the store had
    std::int64_t next_sequence = 0;  // for the next row that is new
    std::int64_t last_known = -1;    // sequence of the last row that both have
    std::int64_t known = 0;          // rows that both have
    std::int64_t added = 0;
    bool appended = true;  // so far, the batch is what the store has, in that order, then new rows
    std::map<std::string, const std::string*> lines;  // of the batch, by attempt
    std::vector<std::string> attempts;                // of the batch, in its order, each once
  };

  Run look_up(const std::string& run_id) {
    Run run;
    const SqlValue id = run_id;
    db_.query("SELECT count(*), coalesce(max(sequence) + 1, 0) FROM attempt WHERE run_id = $1",
              {&id, 1}, [&](const Record& row) {
                run.stored_before = row.number(0);
                run.next_sequence = row.number(1);
              });
    return run;
  }

  void put_in_order(const std::string& run_id, const std::vector<std::string>& attempts) {
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      const SqlValue values[] = {static_cast<std::int64_t>(i), run_id, attempts[i]};
      db_.change("UPDATE attempt SET sequence = $1 WHERE run_id = $2 AND attempt_id = $3", values);
    }
  }

  Database& db_;
};

}  // namespace

IngestReport Store::ingest(const std::function<std::optional<Batch>()>& next) {
  // The first batch is read before the lock is taken: usually it is the only one, and other writers
  // then wait for the last step alone. The next one is read while one is written.
  Ingest ingest(*db_);
  std::optional<Batch> batch = next();
  if (batch) ingest.stage(*batch);
  Transaction transaction(*db_, Database::Kind::kWrite);
  while (batch) {
    auto following = std::async(std::launch::async, next);
    ingest.add(*batch);
    batch = following.get();
    if (batch) ingest.stage(*batch);
  }
  transaction.commit();
  return ingest.report;
}

}  // namespace assay::lab
