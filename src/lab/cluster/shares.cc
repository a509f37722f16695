// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/cluster/shares.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "lab/record/journal.h"

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRecord = ".jsonl.request.json";
constexpr std::string_view kFolderEnd = ".slurm";

std::optional<int> number_of(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

// An absolute path: tasks may be elsewhere.
Shares::Shares(const std::string& journal)
    : folder_(fs::absolute(journal).string().append(kFolderEnd)) {}

std::string Shares::folder_of(int submission) const {
  return folder_ + "/" + std::to_string(submission);
}

std::string Shares::path_of(TaskId task) const {
  return fmt::format("{}/{}", folder_of(task.submission), task.index);
}

std::string Shares::journal_of(TaskId task) const { return path_of(task) + ".jsonl"; }

int Shares::unused_number() const {
  int unused = 1;
  if (!fs::exists(folder_)) return unused;
  for (const auto& submission : fs::directory_iterator(folder_)) {
    const auto number = number_of(submission.path().filename().string());
    if (number) unused = std::max(unused, *number + 1);
  }
  return unused;
}

std::map<TaskId, RunShare> Shares::open() const {
  std::map<TaskId, RunShare> tasks;
  if (!fs::exists(folder_)) return tasks;
  for (const auto& submission : fs::directory_iterator(folder_)) {
    const auto number = number_of(submission.path().filename().string());
    if (!number || !submission.is_directory()) continue;
    for (const auto& file : fs::directory_iterator(submission)) {
      const auto name = file.path().filename().string();
      if (!name.ends_with(kRecord)) continue;
      const auto index = number_of(std::string_view(name).substr(0, name.size() - kRecord.size()));
      if (!index) continue;
      if (auto share = read_share(journal_of({*number, *index}))) {
        tasks.emplace(TaskId{*number, *index}, std::move(*share));
      }
    }
  }
  return tasks;
}

void Shares::write(TaskId task, const std::string& run_id, const RunShare& share,
                   std::span<const Row> rows) {
  make_directories(folder_of(task.submission));
  write_share(journal_of(task), run_id, share, rows);
}

std::vector<Row> Shares::news(TaskId task) {
  const auto path = journal_of(task);
  std::error_code missing;
  const auto size = fs::file_size(path, missing);
  auto& read = read_[task];
  if (missing || size == read) return {};
  if (size < read) read = 0;  // a disk that was full: what was cut off is written again
  const auto content = read_file(path);
  std::vector<Row> rows;
  std::size_t end = 0;
  for (; (end = content.find('\n', read)) != std::string::npos; read = end + 1) {
    const auto line = std::string_view(content).substr(read, end - read);
    try {
      rows.push_back(row_from_line(line, path));
    } catch (const UserError& e) {
      fail(
          "{}; that is the journal of a task of this run: assay store repair --in-place '{}' keeps "
          "what is whole (or remove it), then assay run --resume '{}' measures the rest",
          e.what(), path, folder_.substr(0, folder_.size() - kFolderEnd.size()));
    }
  }
  return rows;
}

bool Shares::close(TaskId task, const std::function<void(std::vector<Row>)>& take) {
  const auto path = journal_of(task);
  std::optional<JournalWriter> lock;
  try {
    lock.emplace(path);
  } catch (const JournalHeld&) {
    return false;
  }
  take(news(task));
  close_share(path);
  return true;
}

std::optional<int> Shares::status(TaskId task) const {
  const auto text = read_small_file(path_of(task) + ".status");
  return text ? number_of(*text) : std::nullopt;
}

std::string Shares::last_words(TaskId task) const {
  const auto text = read_small_file(path_of(task) + ".log").value_or("");
  return printable(std::string_view(text).substr(text.rfind('\n') + 1));
}

void Shares::remove() const {
  for (const auto& file : fs::directory_iterator(folder_)) {
    if (file.path() != options()) fs::remove_all(file.path());
  }
  fs::remove_all(folder_);
}

}  // namespace assay::lab
