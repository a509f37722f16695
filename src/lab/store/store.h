// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A database of many runs. What it keeps is the text of each journal line, byte for byte, so that a
// journal can be had back as it was; columns beside the text only make it searchable.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace assay::lab {

// Lines to be taken in, as a journal has them, without their ends.
struct Batch {
  std::vector<std::string> lines;
  // In messages: of all, and of a line, by its index.
  std::string name;
  std::function<std::string(std::size_t)> line_name;
  bool continues = false;  // the journal of the batch before: both are of one order
};

struct IngestReport {
  std::int64_t added = 0;
  std::int64_t known = 0;  // were there already, with the same content
};

struct PruneReport {
  std::int64_t runs_removed = 0, runs_kept = 0;
  std::int64_t rows_removed = 0;
};

struct RunInfo {
  std::string run_id;
  std::int64_t rows = 0;
};

// Something `verify` found. Empty ids: it concerns the store as a whole.
struct Problem {
  std::string run_id, attempt_id;
  std::string message;
};

// Which rows to read.
struct Selection {
  std::optional<std::string> run_id = std::nullopt;  // of this run only
  // Only the latest of each provider at each place (lab/beside/latest.h): all
  // rows, every round, that the most recent run with that key has of it. A run whose rows of a key
  // are all void (excluded, interrupted) says nothing about it and counts only if there is no
  // other.
  bool latest = false;
};

// Reads one stored line. The views are valid during the call; the store must not be used in it.
using LineVisitor = std::function<void(std::string_view run_id, std::string_view attempt_id,
                                       std::string_view line)>;

enum class Access {
  kRead,    // must exist; a store that cannot be written may still be read
  kWrite,   // must exist
  kCreate,  // made, with its folder, when it does not exist
};

// Another program writes to the store.
class StoreBusy : public UserError {
 public:
  using UserError::UserError;
};
// For how long a writer waits for another: StoreBusy after a minute, or at once.
enum class Patience { kAMinute, kNone };

class Database;  // lab/store/database.h

// One connection to a store. Other processes may use the same store at the same time; one object is
// for one thread. All members throw UserError that names the store when it cannot be read or
// written (damage, full disk, no permission, another writer for more than a minute); nothing that
// was stored before is lost by that.
class Store {
 public:
  // Opens "sqlite:PATH", a plain path that ends in ".db", or "postgresql://…" as PostgreSQL reads
  // it (a password comes from the URL or from PostgreSQL's password file, and is never shown). A
  // store of a newer version, a database that is not ours and a file that is no database are
  // refused by a UserError and left as they are.
  Store(const std::string& url, Access access);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store();

  // Without a password.
  std::string url() const;

  // A text that is another after every change; empty where the file's own time tells.
  std::string stamp();

  // Takes in every batch that `next` returns, until it returns none, in one transaction: all of it,
  // or after an error nothing. A row whose key (run_id, attempt_id) is there already must have the
  // same text, else UserError names the key. A line that row_from_line() refuses is a UserError
  // that names it. `next` is called from another thread while a batch is stored.
  //
  // Rows of a run keep the order in which they came. When a journal holds all that the store has of
  // the run and more, the journal's order is the run's order: one taken in early, or in parts,
  // and again when it was complete comes back byte-identical.
  IngestReport ingest(const std::function<std::optional<Batch>()>& next,
                      Patience patience = Patience::kAMinute);

  // By run_id, which is by time.
  std::vector<RunInfo> runs();

  // Visits lines ordered by run_id, then by their order within the run. A line that is not as it
  // was written is a UserError that names its run and attempt.
  void visit(const Selection& selection, const LineVisitor& visitor);

  // Removes old runs. Kept is every run that is, for at least one key (see Selection::latest), as
  // new as the `keep`-th newest run with rows of that key that are not void. Runs go whole or not
  // at all: rows of a kept run are never lost, so pairs stay pairs, and `latest` stays what it was.
  // keep ≥ 1, else UserError.
  PruneReport prune(int keep);

  // Looks for damage: the database's own structure, the check of every line, whether the columns
  // follow from the lines and the order within each run has no gaps. Reads everything; changes
  // nothing; does not throw for what is damaged.
  std::vector<Problem> verify();

  // Makes all columns and indexes anew from the lines, in one transaction. A damaged line is a
  // UserError that names it, and then nothing is changed. Returns the number of rows.
  std::int64_t rebuild();

 private:
  std::unique_ptr<Database> db_;
};

// Whether the text can only mean a store: a known scheme, or a path that ends in ".db".
bool looks_like_store(std::string_view url);

}  // namespace assay::lab
