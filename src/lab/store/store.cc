// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/store.h"

#include "base/error.h"
#include "lab/store/columns.h"
#include "lab/store/sqlite_open.h"

namespace assay::lab {
namespace {

constexpr std::string_view kSqlite = "sqlite:";

std::string path_of(const std::string& url) {
  std::string path = url;
  if (url.starts_with(kSqlite)) {
    path.erase(0, kSqlite.size());
    if (path.starts_with("//")) fail("write a store's path as sqlite:PATH, got '{}'", url);
  } else if (!url.ends_with(".db")) {
    fail("a store is given as sqlite:PATH or as a path that ends in .db, got '{}'", url);
  }
  if (path.empty() || path.find('\0') != std::string::npos) {
    fail("the store's path is missing: '{}'", url);
  }
  return path;
}

// The rows that Selection::latest means, as a query for their ids.
std::string latest_ids() {
  return fmt::format(
      "WITH of_key AS ({2}), ranked AS ("
      "  SELECT *, row_number() OVER (PARTITION BY {0} ORDER BY says DESC, run_id DESC) AS place"
      "  FROM of_key)"
      " SELECT id FROM {1} JOIN ranked USING ({0}, run_id) WHERE place = 1",
      kSeriesColumns, kPlacedAttempts, runs_of_series_sql());
}

}  // namespace

bool looks_like_store(std::string_view url) {
  return url.starts_with(kSqlite) || url.ends_with(".db");
}

Store::Store(const std::string& url, Access access)
    : db_(std::make_unique<Database>(open_store_database(path_of(url), access))) {}

Store::~Store() = default;

std::string Store::url() const { return std::string(kSqlite) + db_->path(); }

std::vector<RunInfo> Store::runs() {
  auto statement =
      db_->prepare("SELECT run_id, count(*) FROM attempt GROUP BY run_id ORDER BY run_id");
  std::vector<RunInfo> runs;
  while (statement.step()) runs.push_back({std::string(statement.text(0)), statement.number(1)});
  return runs;
}

void Store::visit(const Selection& selection, const LineVisitor& visitor) {
  auto statement = db_->prepare(fmt::format(
      "SELECT run_id, attempt_id, line FROM attempt WHERE {} AND {} ORDER BY run_id, sequence",
      selection.run_id ? "run_id = ?" : "1",
      selection.latest ? fmt::format("id IN ({})", latest_ids()) : "1"));
  if (selection.run_id) statement.bind(*selection.run_id);
  while (statement.step()) {
    const auto run_id = statement.text(0), attempt_id = statement.text(1);
    const auto line = statement.text(2);
    if (!line_is_untouched(line)) {
      fail("the line of run '{}', attempt '{}' is damaged in the store: '{}'", run_id, attempt_id,
           db_->path());
    }
    visitor(run_id, attempt_id, line);
  }
}

}  // namespace assay::lab
