// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/transfer.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "lab/store/kept_journal.h"

namespace assay::lab {
namespace {

// A run's name becomes a file's name, and rows may come from anyone: no separators, no hidden
// files.
void refuse_unsafe_name(const std::string& run_id) {
  const auto plain = [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '-' || c == '_' || c == '+';
  };
  if (run_id.empty() || run_id.size() > 200 || run_id.starts_with('.') ||
      !std::ranges::all_of(run_id, plain)) {
    fail("a run of this name cannot be written to a file of its own: '{}'", run_id);
  }
}

Batch read_batch(const std::string& path, std::vector<std::string>& warnings) {
  Batch batch{read_kept_journal(path), path};
  if (batch.journal.torn) {
    warnings.push_back(fmt::format("the last line is incomplete and left out: '{}'", path));
  }
  return batch;
}

Batch read_run(Store& store, const std::string& run_id) {
  Batch batch;
  batch.name = fmt::format("'{}'", store.url());
  store.visit({.run_id = run_id}, [&](std::string_view, std::string_view attempt_id,
                                      std::string_view line) {
    const auto what = fmt::format("{}: run '{}', attempt '{}'", batch.name, run_id, attempt_id);
    batch.journal.rows.push_back(row_from_line(line, what));
    batch.journal.lines.emplace_back(line);
  });
  return batch;
}

}  // namespace

Transfer ingest_journals(Store& store, const std::vector<std::string>& paths) {
  Transfer transfer;
  auto path = paths.begin();
  transfer.report = store.ingest([&]() -> std::optional<Batch> {
    if (path == paths.end()) return std::nullopt;
    return read_batch(*path++, transfer.warnings);
  });
  return transfer;
}

IngestReport ingest_lines(Store& store, std::span<const std::string> lines, std::string_view name) {
  bool done = false;
  return store.ingest([&]() -> std::optional<Batch> {
    if (std::exchange(done, true)) return std::nullopt;
    Batch batch;
    batch.name = name;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      batch.journal.rows.push_back(
          row_from_line(lines[i], fmt::format("{}: line {}", name, i + 1)));
    }
    batch.journal.lines.assign(lines.begin(), lines.end());
    return batch;
  });
}

IngestReport merge_store(Store& into, Store& from) {
  const auto runs = from.runs();
  auto run = runs.begin();
  return into.ingest([&]() -> std::optional<Batch> {
    if (run == runs.end()) return std::nullopt;
    return read_run(from, (run++)->run_id);
  });
}

std::string export_run(Store& store, const std::string& run_id) {
  std::string journal;
  store.visit({.run_id = run_id}, [&](std::string_view, std::string_view, std::string_view line) {
    journal.append(line).append("\n");
  });
  if (journal.empty()) fail("the store '{}' has no run '{}'", store.url(), run_id);
  return journal;
}

std::vector<std::string> export_all(Store& store, const std::string& folder) {
  const auto runs = store.runs();
  for (const auto& run : runs) refuse_unsafe_name(run.run_id);  // before the first file is written
  make_directories(folder);
  std::vector<std::string> paths;
  for (const auto& run : runs) {
    const auto path = fmt::format("{}/{}.jsonl", folder, run.run_id);
    const auto journal = export_run(store, run.run_id);
    if (std::filesystem::exists(path)) {
      const auto before = read_file(path);
      if (!journal.starts_with(before)) {
        fail("there is another journal of this name, which would be lost: '{}'", path);
      }
    }
    write_file_atomically(path, journal);
    paths.push_back(path);
  }
  return paths;
}

std::vector<std::string> journals_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (is_journal_name(entry.path().string()) && !entry.is_directory()) {
      paths.push_back(entry.path().string());
    }
  }
  if (error) fail("cannot read folder '{}': {}", folder, error.message());
  if (paths.empty()) fail("there is no journal (*.jsonl, *.jsonl.gz) in folder '{}'", folder);
  std::ranges::sort(paths);
  return paths;
}

}  // namespace assay::lab
