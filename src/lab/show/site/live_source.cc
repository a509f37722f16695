// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/site/live_source.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "base/error.h"
#include "lab/store/postgres_url.h"
#include "lab/store/shown_source.h"
#include "lab/store/source.h"
#include "lab/store/transfer.h"

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

std::string stamp_of(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return "none";
  const auto time = fs::last_write_time(path, error);
  return error ? "none" : fmt::format("{} {}", size, time.time_since_epoch().count());
}

// Another whenever there may be other rows.
std::string stamp_of_source(const std::string& source) {
  if (is_postgres_url(source)) {
    try {
      return Store(source, Access::kRead).stamp();
    } catch (const UserError& e) {
      return e.what();
    }
  }
  constexpr std::string_view kScheme = "sqlite:";
  const auto path = source.starts_with(kScheme) ? source.substr(kScheme.size()) : source;
  return stamp_of(path) + " " + stamp_of(path + "-wal");
}

// The files of a source by name; what cannot be listed is a warning.
std::vector<std::string> files_of(const std::string& source, std::vector<std::string>& warnings) {
  std::error_code error;
  if (!fs::is_directory(source, error)) return {source};
  try {
    return journals_in(source);
  } catch (const UserError& e) {
    warnings.push_back(e.what());
    return {};
  }
}

}  // namespace

bool LiveSource::refresh() {
  std::vector<std::string> warnings;
  std::map<std::string, File> files;
  bool changed = std::exchange(first_, false);
  for (const auto& source : sources_) {
    for (const auto& name : files_of(source, warnings)) {
      if (files.contains(name)) continue;
      File file;
      if (const auto known = files_.find(name); known != files_.end()) {
        file = std::move(known->second);
      }
      // Taken before reading: a row written meanwhile is seen by the next call.
      const auto stamp = stamp_of_source(name);
      if (stamp != file.stamp) {
        changed = true;
        file.stamp = stamp;
        try {
          auto read = read_sources({&name, 1}, Reading::kWhatIsWhole, kMostRowsOfAPage);
          file.rows = std::move(read.rows);
          file.warnings = std::move(read.warnings);
        } catch (const UserError& e) {
          file.warnings = {e.what()};
        }
      }
      warnings.insert(warnings.end(), file.warnings.begin(), file.warnings.end());
      files[name] = std::move(file);
    }
  }
  changed = changed || files.size() != files_.size();
  files_ = std::move(files);
  if (!changed && warnings == warnings_) return false;

  rows_.clear();
  std::map<std::pair<std::string, std::string>, std::size_t> seen;
  for (const auto& [name, file] : files_) {
    for (const auto& row : file.rows) {
      const auto [it, first] = seen.try_emplace({row.run_id, row.attempt_id}, rows_.size());
      if (first) {
        rows_.push_back(row);
      } else if (row_to_line(row) != row_to_line(rows_[it->second])) {
        warnings.push_back(fmt::format("run '{}', attempt '{}' has other content in '{}'",
                                       row.run_id, row.attempt_id, shown_source(name)));
      }
    }
  }
  const bool others = warnings != warnings_;
  warnings_ = std::move(warnings);
  return changed || others;
}

}  // namespace assay::lab
