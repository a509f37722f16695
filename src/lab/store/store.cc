// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/store.h"

#include "base/error.h"
#include "lab/store/postgres.h"
#include "lab/store/postgres_url.h"
#include "lab/store/shown_source.h"
#include "lab/store/sqlite_database.h"
#include "lab/store/typed_sources.h"

namespace assay::lab {
namespace {

constexpr std::string_view kSqlite = "sqlite:";

std::string path_of(const std::string& url) {
  std::string path = url;
  if (url.starts_with(kSqlite)) {
    path.erase(0, kSqlite.size());
    if (path.starts_with("//") || path.find("://") != std::string::npos) {
      fail("write a store's path as sqlite:PATH, got '{}'", shown_source(url));
    }
  } else if (!url.ends_with(".db") || url.find("://") != std::string::npos) {
    fail(
        "a store is given as sqlite:PATH, as a path that ends in .db, or as "
        "postgresql://HOST/DATABASE, got '{}'",
        shown_source(url));
  }
  if (path.empty() || path.find('\0') != std::string::npos) {
    fail("the store's path is missing: '{}'", shown_source(url));
  }
  return path;
}

}  // namespace

bool looks_like_store(std::string_view url) {
  return url.starts_with(kSqlite) || is_postgres_url(url) || url.ends_with(".db");
}

Store::Store(const std::string& url, Access access)
    : db_(is_postgres_url(url) ? open_postgres(with_password(url), access)
                               : open_sqlite(path_of(url), access)) {}

Store::~Store() = default;

std::string Store::url() const { return db_->url(); }

std::string Store::stamp() { return db_->stamp(); }

std::vector<RunInfo> Store::runs() {
  std::vector<RunInfo> runs;
  db_->query("SELECT run_id, count(*) FROM attempt GROUP BY run_id ORDER BY run_id", {},
             [&](const Record& row) {
               runs.push_back({std::string(row.text(0)), row.number(1)});
             });
  return runs;
}

void Store::visit(const Selection& selection, const LineVisitor& visitor) {
  std::vector<SqlValue> values;
  if (selection.run_id) values.emplace_back(*selection.run_id);
  const auto sql = fmt::format(
      "SELECT run_id, attempt_id, line FROM attempt WHERE {} AND {} ORDER BY run_id, sequence",
      selection.run_id ? "run_id = $1" : "true",
      selection.latest ? fmt::format("id IN ({})", db_->latest_ids()) : "true");
  db_->query(sql, values, [&](const Record& row) {
    const auto run_id = row.text(0), attempt_id = row.text(1), line = row.text(2);
    if (!line_is_untouched(line)) {
      fail("the line of run '{}', attempt '{}' is damaged in the store: '{}'", run_id, attempt_id,
           db_->name());
    }
    visitor(run_id, attempt_id, line);
  });
}

}  // namespace assay::lab
