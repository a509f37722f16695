// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <future>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "lab/store/database.h"
#include "lab/store/store.h"

namespace assay::lab {
namespace {

struct Piece {
  Batch batch;
  std::vector<Entry> entries;  // of its lines
};

std::optional<Piece> read_piece(const std::function<std::optional<Batch>()>& next) {
  auto batch = next();
  if (!batch) return std::nullopt;
  Piece piece{std::move(*batch), {}};
  const auto& lines = piece.batch.lines;
  piece.entries.reserve(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto name = [&] { return piece.batch.line_name(i); };
    piece.entries.push_back({columns_of_line(lines[i], name), lines[i]});
  }
  return piece;
}

class Ingest {
 public:
  explicit Ingest(Database& db) : db_(db) {}

  // What was staged. Of a journal nothing is held from piece to piece but its rows' places, and
  // hashes of their ids.
  void add(const Piece& piece) {
    if (!piece.batch.continues) end_journal();
    for (auto& [run_id, run] : runs_) run.lines.clear();
    const auto stored = db_.find_staged(may_be_stored(piece));
    std::vector<Database::Position> positions;
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const auto& [columns, line] = piece.entries[i];
      const auto& run_id = std::get<std::string>(columns[0]);
      const auto& attempt_id = std::get<std::string>(columns[1]);
      Run& run = run_of(run_id);
      const auto [before, is_new] = run.lines.try_emplace(attempt_id, line);
      const bool is_stored = stored[i] && stored[i]->sequence < run.first_new;
      const bool same = is_new ? !stored[i] || stored[i]->same_line : before->second == line;
      if (!same && is_new && is_stored) {
        fail("{}: run '{}', attempt '{}' is already in the store with other content: '{}'",
             piece.batch.name, run_id, attempt_id, db_.name());
      }
      if (!same) {
        fail("{}: run '{}', attempt '{}' is there twice, with different content", piece.batch.name,
             run_id, attempt_id);
      }
      if (!is_new || stored[i]) {
        ++report.known;
        if (is_new && is_stored) run.places.push_back(stored[i]->sequence);
      } else {
        positions.push_back({static_cast<std::int64_t>(i), run.next_sequence});
        run.places.push_back(run.next_sequence++);
        ++report.added;
      }
    }
    db_.insert_staged(positions);
  }

  void end_journal() {
    for (auto& [run_id, run] : runs_) put_in_order(run_id, run);
    runs_.clear();
  }

  IngestReport report;

 private:
  // What a journal and the store have of one run.
  struct Run {
    std::int64_t stored_before = 0;    // rows that the store had
    std::int64_t first_new = 0;        // the first sequence that none had
    std::int64_t next_sequence = 0;    // for the next row that is new
    std::vector<std::int64_t> places;  // sequences, in the journal's order
    std::unordered_map<std::string_view, std::string_view> lines;  // of the piece, by attempt
    // Hashes of attempts, where the store had none: what is not among them is not there either.
    std::unordered_set<std::size_t> attempts;
  };

  // Rows that must be looked for: most journals are of runs that the store does not know.
  std::vector<std::size_t> may_be_stored(const Piece& piece) {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < piece.entries.size(); ++i) {
      const auto& columns = piece.entries[i].columns;
      Run& run = run_of(std::get<std::string>(columns[0]));
      const auto hash = std::hash<std::string>()(std::get<std::string>(columns[1]));
      if (run.stored_before > 0 || !run.attempts.insert(hash).second) indices.push_back(i);
    }
    return indices;
  }

  Run& run_of(const std::string& run_id) {
    const auto [it, is_first] = runs_.try_emplace(run_id);
    Run& run = it->second;
    if (is_first) {
      const SqlValue id = run_id;
      db_.query("SELECT count(*), coalesce(max(sequence) + 1, 0) FROM attempt WHERE run_id = $1",
                {&id, 1}, [&](const Record& row) {
                  run.stored_before = row.number(0);
                  run.first_new = run.next_sequence = row.number(1);
                });
    }
    return run;
  }

  // Gives the run the journal's order, where that is another and the journal has all of the run.
  void put_in_order(const std::string& run_id, Run& run) {
    auto& places = run.places;
    const auto is_in_order = [&] {
      return std::ranges::adjacent_find(places, std::ranges::greater_equal()) == places.end();
    };
    if (run.next_sequence == run.first_new || is_in_order()) return;
    std::unordered_set<std::int64_t> seen;  // a row that is there twice counts where it is first
    std::erase_if(places, [&](std::int64_t place) { return !seen.insert(place).second; });
    const auto is_old = [&](std::int64_t place) { return place < run.first_new; };
    if (std::ranges::count_if(places, is_old) != run.stored_before || is_in_order()) return;
    std::vector<Database::Move> moves;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto place = static_cast<std::int64_t>(i);
      if (places[i] != place) moves.push_back({places[i], place});
    }
    db_.move(run_id, moves);
  }

  Database& db_;
  std::map<std::string, Run> runs_;  // of the journal
};

}  // namespace

IngestReport Store::ingest(const std::function<std::optional<Batch>()>& next, Patience patience) {
  // The first batch is read before the lock is taken: usually it is the only one, and other writers
  // then wait for the last step alone. The next one is read while one is written.
  Ingest ingest(*db_);
  auto piece = read_piece(next);
  if (piece) db_->stage(piece->entries);
  using Kind = Database::Kind;
  Transaction transaction(*db_, patience == Patience::kNone ? Kind::kWriteAtOnce : Kind::kWrite);
  while (piece) {
    auto following = std::async(std::launch::async, read_piece, std::cref(next));
    ingest.add(*piece);
    piece = following.get();
    if (piece) db_->stage(piece->entries);
  }
  ingest.end_journal();
  transaction.commit();
  return ingest.report;
}

}  // namespace assay::lab
