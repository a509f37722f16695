// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/sqlite_store.h"

#include "base/error.h"
#include "lab/store/columns.h"
#include "lab/store/sqlite_ingest.h"
#include "lab/store/sqlite_maintain.h"
#include "lab/store/sqlite_open.h"

namespace assay::lab {
namespace {

// The rows that Selection::latest means, as a query for their ids.
std::string latest_ids() {
  return fmt::format(
      "WITH of_key AS ("
      "  SELECT {0}, run_id, max(status NOT IN ('excluded', 'interrupted')) AS says"
      "  FROM {1} GROUP BY {0}, run_id),"
      " ranked AS ("
      "  SELECT *, row_number() OVER (PARTITION BY {0} ORDER BY says DESC, run_id DESC) AS place"
      "  FROM of_key)"
      " SELECT id FROM {1} JOIN ranked USING ({0}, run_id) WHERE place = 1",
      kSeriesColumns, kPlacedAttempts);
}

class SqliteStore : public Store {
 public:
  SqliteStore(const std::string& path, Access access)
      : url_("sqlite:" + path), db_(open_store_database(path, access)) {}

  const std::string& url() const override { return url_; }

  IngestReport ingest(const std::function<std::optional<Batch>()>& next) override {
    return ingest_into(db_, next);
  }

  std::vector<RunInfo> runs() override {
    auto statement =
        db_.prepare("SELECT run_id, count(*) FROM attempt GROUP BY run_id ORDER BY run_id");
    std::vector<RunInfo> runs;
    while (statement.step()) runs.push_back({std::string(statement.text(0)), statement.number(1)});
    return runs;
  }

  void visit(const Selection& selection, const LineVisitor& visitor) override {
    auto statement = db_.prepare(fmt::format(
        "SELECT run_id, attempt_id, line FROM attempt WHERE {} AND {} ORDER BY run_id, sequence",
        selection.run_id ? "run_id = ?" : "1",
        selection.latest ? fmt::format("id IN ({})", latest_ids()) : "1"));
    if (selection.run_id) statement.bind(*selection.run_id);
    while (statement.step()) {
      const auto run_id = statement.text(0), attempt_id = statement.text(1);
      const auto line = statement.text(2);
      if (!line_is_untouched(line)) {
        fail("the line of run '{}', attempt '{}' is damaged in the store: '{}'", run_id, attempt_id,
             db_.path());
      }
      visitor(run_id, attempt_id, line);
    }
  }

  PruneReport prune(int keep) override { return prune_database(db_, keep); }
  std::vector<Problem> verify() override { return verify_database(db_); }
  std::int64_t rebuild() override { return rebuild_database(db_); }

 private:
  std::string url_;
  Database db_;
};

}  // namespace

std::unique_ptr<Store> open_sqlite_store(const std::string& path, Access access) {
  return std::make_unique<SqliteStore>(path, access);
}

}  // namespace assay::lab
