// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <utility>

#include "lab/store/columns.h"
#include "lab/store/store.h"

namespace assay::lab {
namespace {

class Verification {
 public:
  explicit Verification(Database& db) : db_(db) {}

  std::vector<Problem> run() {
    const Name store;
    // One snapshot for all that follows; other processes may be writing.
    guarded(store, [&] { db_.execute("BEGIN"); });
    guarded(store, [&] { check_structure(); });
    // Rows are listed twice, by an index and by the table, and then read one by one: a page that
    // cannot be read costs its own rows only, and these can still be named.
    guarded(store, [&] {
      list(
          "SELECT id, run_id, attempt_id FROM attempt INDEXED BY attempt_identity"
          " ORDER BY run_id, attempt_id");
    });
    guarded(store, [&] { list("SELECT id, run_id, attempt_id FROM attempt NOT INDEXED"); });
    guarded(store, [&] { check_rows(); });
    check_order();
    guarded(store, [&] {
      if (db_.in_transaction()) db_.execute("ROLLBACK");
    });
    return std::move(problems_);
  }

 private:
  struct Name {
    std::string run_id, attempt_id;
  };
  struct Place {
    std::int64_t sequence;
    std::string attempt_id;
    auto operator<=>(const Place&) const = default;
  };

  void report(const Name& name, std::string message) {
    problems_.push_back({name.run_id, name.attempt_id, std::move(message)});
  }

  // Nothing that a damaged file makes SQLite, the JSON parser or the allocator say ends the search.
  template <typename Look>
  void guarded(const Name& name, Look look) {
    try {
      look();
    } catch (const std::exception& error) {
      report(name, error.what());
    }
  }

  void check_structure() {
    auto statement = db_.prepare("PRAGMA integrity_check");
    while (statement.step()) {
      if (const auto text = statement.text(0); text != "ok") {
        report({}, fmt::format("structure of the database: {}", text));
      }
    }
  }

  void list(const std::string& sql) {
    auto statement = db_.prepare(sql);
    while (statement.step()) {
      names_.try_emplace(statement.number(0),
                         Name{std::string(statement.text(1)), std::string(statement.text(2))});
    }
  }

  void check_rows() {
    auto fetch = db_.prepare(select_row_sql());
    for (const auto& [id, name] : names_) {
      guarded(name, [&] {
        fetch.bind(id);
        if (!fetch.step()) fail("is in the index, but not in the table");
        check_row(fetch);
      });
      fetch.reset();
    }
  }

  void check_row(const Statement& fetch) {
    places_[std::string(fetch.text(0))].push_back(
        {fetch.number(kColumnCount), std::string(fetch.text(1))});
    const Row row = row_from_line(fetch.text(kColumnCount + 1), "its line");
    if (const char* column = differing_column(fetch, columns_of(row))) {
      fail("column '{}' does not agree with the line", column);
    }
  }

  void check_order() {
    for (auto& [run_id, places] : places_) {
      std::ranges::sort(places);
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i].sequence == static_cast<std::int64_t>(i)) continue;
        report({run_id, places[i].attempt_id},
               fmt::format("stands at place {} of its run, where place {} is expected",
                           places[i].sequence, i));
        break;
      }
    }
  }

  Database& db_;
  std::vector<Problem> problems_;
  std::map<std::int64_t, Name> names_;                // by id
  std::map<std::string, std::vector<Place>> places_;  // by run
};

}  // namespace

std::vector<Problem> Store::verify() { return Verification(*db_).run(); }

}  // namespace assay::lab
