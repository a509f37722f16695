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

// The lines of journals, some megabytes at a time: journals may be larger than the memory.
class JournalReader {
 public:
  JournalReader(std::span<const std::string> paths, std::vector<std::string>& warnings)
      : paths_(paths), warnings_(warnings) {}

  std::optional<Batch> next() {
    while (text_ || !paths_.empty()) {
      if (!text_) {
        text_.emplace(paths_.front());
        rest_.clear();
        lines_ = 0;
      }
      const auto& path = paths_.front();
      Batch batch{{},
                  path,
                  [path, before = lines_](std::size_t i) {
                    return fmt::format("{}:{}", path, before + i + 1);
                  },
                  lines_ > 0};
      read_lines(batch.lines);
      if (!batch.lines.empty()) return batch;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kBytesAtOnce = std::size_t{8} << 20;
  static constexpr std::size_t kLongestLine = std::size_t{256} << 20;

  void read_lines(std::vector<std::string>& lines) {
    for (std::size_t bytes = 0; bytes < kBytesAtOnce;) {
      auto searched = rest_.size(), begin = std::size_t{0};
      if (!text_->read(rest_)) {
        if (!rest_.empty()) {  // the newline is written last
          warnings_.push_back(
              fmt::format("the last line is incomplete and left out: '{}'", paths_.front()));
        }
        text_.reset();
        paths_ = paths_.subspan(1);
        return;
      }
      for (std::size_t end; (end = rest_.find('\n', searched)) != rest_.npos;) {
        lines.emplace_back(rest_, begin, end - begin);
        searched = begin = end + 1;
      }
      rest_.erase(0, begin);
      bytes += begin;
      if (rest_.size() > kLongestLine) {
        fail("{}:{}: a line of more than {} MiB is no row's", paths_.front(),
             lines_ + lines.size() + 1, kLongestLine >> 20);
      }
    }
    lines_ += lines.size();
  }

  std::span<const std::string> paths_;
  std::vector<std::string>& warnings_;
  std::optional<KeptText> text_;  // of the first of them
  std::string rest_;              // of it, that is no whole line yet
  std::size_t lines_ = 0;         // of it, that were read before
};

Batch read_run(Store& store, const std::string& run_id) {
  Batch batch;
  std::vector<std::string> attempts;
  store.visit({.run_id = run_id},
              [&](std::string_view, std::string_view attempt_id, std::string_view line) {
                attempts.emplace_back(attempt_id);
                batch.lines.emplace_back(line);
              });
  batch.name = fmt::format("'{}'", store.url());
  batch.line_name = [name = batch.name, run_id, attempts = std::move(attempts)](std::size_t i) {
    return fmt::format("{}: run '{}', attempt '{}'", name, run_id, attempts[i]);
  };
  return batch;
}

}  // namespace

Transfer ingest_journals(Store& store, const std::vector<std::string>& paths, Patience patience) {
  Transfer transfer;
  JournalReader reader(paths, transfer.warnings);
  transfer.report = store.ingest([&] { return reader.next(); }, patience);
  return transfer;
}

IngestReport ingest_lines(Store& store, std::span<const std::string> lines, std::string_view name,
                          Patience patience) {
  bool done = false;
  const auto next = [&]() -> std::optional<Batch> {
    if (std::exchange(done, true)) return std::nullopt;
    return Batch{{lines.begin(), lines.end()}, std::string(name), [&](std::size_t i) {
                   return fmt::format("{}: line {}", name, i + 1);
                 }};
  };
  return store.ingest(next, patience);
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
