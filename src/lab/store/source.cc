// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/source.h"

#include <filesystem>
#include <map>
#include <utility>

#include "base/error.h"
#include "lab/store/kept_journal.h"
#include "lab/store/shown_source.h"
#include "lab/store/sqlite_open.h"
#include "lab/store/store.h"
#include "lab/store/transfer.h"

namespace assay::lab {
namespace {

// Collects rows, each key once.
class Collector {
 public:
  Collector(Reading reading, std::int64_t most_rows) : reading_(reading), most_rows_(most_rows) {}

  void add(Row row, const std::string& where) {
    const auto [it, first] =
        seen_.try_emplace({row.run_id, row.attempt_id}, Seen{source.rows.size(), where});
    if (first) {
      source.rows.push_back(std::move(row));
    } else if (row_to_line(row) != row_to_line(source.rows[it->second.index])) {
      fail("run '{}', attempt '{}' has other content in '{}' than in '{}'", row.run_id,
           row.attempt_id, where, it->second.where);
    }
  }

  // Of a folder's journals one that is damaged is left out, and the warning says so.
  void add_folder(const std::string& folder) {
    const auto paths = journals_in(folder);
    std::string last_problem;
    std::size_t damaged = 0;
    for (const auto& path : paths) {
      const auto rows_before = source.rows.size();
      try {
        add_journal(path);
      } catch (const UserError& e) {
        last_problem = e.what();
        const auto way_out = fmt::format("(assay store repair '{}' takes out what is whole)", path);
        if (reading_ == Reading::kAllOrNothing) fail("{} {}", last_problem, way_out);
        forget_from(rows_before);
        ++damaged;
        source.warnings.push_back(fmt::format("left out: {} {}", last_problem, way_out));
      }
    }
    if (damaged == paths.size()) fail("no journal of this folder can be read: {}", last_problem);
  }

  void add_journal(const std::string& path) {
    Journal journal = read_kept_journal(path);
    if (journal.torn) {
      source.warnings.push_back(
          fmt::format("the last line is incomplete and left out: '{}'", path));
    }
    if (journal.rows.empty()) {
      source.warnings.push_back(fmt::format("the journal has no rows: '{}'", path));
    }
    for (auto& row : journal.rows) add(std::move(row), path);
  }

  void add_store(const std::string& url) {
    Store store(url, Access::kRead);
    const auto name = shown_source(url);
    std::int64_t rows = 0;
    for (const auto& run : store.runs()) rows += run.rows;
    const bool too_many = rows > most_rows_;
    if (too_many) {
      source.warnings.push_back(fmt::format(
          "only the latest rows of each series are read, not all {}: '{}'", rows, name));
    }
    store.visit({.latest = too_many}, [&](std::string_view run_id, std::string_view attempt_id,
                                          std::string_view line) {
      const auto what = fmt::format("'{}': run '{}', attempt '{}'", name, run_id, attempt_id);
      add(row_from_line(line, what), name);
    });
  }

  void add_source(const std::string& text) {
    std::error_code ignored;
    const bool exists = std::filesystem::exists(text, ignored);
    if (std::filesystem::is_directory(text, ignored)) {
      add_folder(text);
    } else if (exists && is_sqlite_file(text)) {
      add_store(text.ends_with(".db") ? text : "sqlite:" + text);
    } else if (exists && !text.ends_with(".db")) {
      add_journal(text);
    } else if (looks_like_store(text)) {
      add_store(text);
    } else {
      fail("no such journal, folder or store: '{}'", shown_source(text));
    }
  }

  Source source;

 private:
  void forget_from(std::size_t index) {
    std::erase_if(seen_, [&](const auto& entry) { return entry.second.index >= index; });
    source.rows.erase(source.rows.begin() + static_cast<std::ptrdiff_t>(index), source.rows.end());
  }

  struct Seen {
    std::size_t index;
    std::string where;
  };
  Reading reading_;
  std::int64_t most_rows_;
  std::map<std::pair<std::string, std::string>, Seen> seen_;
};

}  // namespace

Source read_source(const std::string& text) { return read_sources({&text, 1}); }

Source read_sources(std::span<const std::string> texts, Reading reading, std::int64_t most_rows) {
  Collector collector(reading, most_rows);
  for (const auto& text : texts) collector.add_source(text);
  return std::move(collector.source);
}

}  // namespace assay::lab
