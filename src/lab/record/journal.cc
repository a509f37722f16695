// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <filesystem>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"

namespace assay::lab {

namespace {

// Fewer lines than this are read before a thread has begun.
constexpr std::size_t kLeastLinesOfAThread = 500;

// Calls work(0 … count - 1) from a few threads, each with a block of its own. Throws what the
// lowest index threw.
template <typename Work>
void in_blocks(std::size_t count, const Work& work) {
  const std::size_t most = std::max(1u, std::min(8u, std::thread::hardware_concurrency()));
  const auto blocks = std::clamp<std::size_t>(count / kLeastLinesOfAThread, 1, most);
  std::vector<std::exception_ptr> errors(blocks);
  const auto do_block = [&](std::size_t block) {
    try {
      for (auto i = count * block / blocks; i < count * (block + 1) / blocks; ++i) work(i);
    } catch (...) {
      errors[block] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t block = 1; block < blocks; ++block) threads.emplace_back(do_block, block);
    do_block(0);
  }
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace

Journal read_journal(const std::string& path) { return parse_journal(read_file(path), path); }

Journal parse_journal(std::string_view content, const std::string& path) {
  Journal journal;
  while (!content.empty()) {
    const auto end = content.find('\n');
    if (end == std::string_view::npos) {
      journal.torn = true;  // the newline is written last
      break;
    }
    journal.lines.emplace_back(content.substr(0, end));
    content.remove_prefix(end + 1);
  }
  journal.rows.resize(journal.lines.size());
  in_blocks(journal.lines.size(), [&](std::size_t i) {
    journal.rows[i] = row_from_line(journal.lines[i], fmt::format("{}:{}", path, i + 1));
  });
  return journal;
}

namespace {

// Whether the path still leads to the open file, which another program may have replaced between
// our opening it and our having its lock: rows written there would be lost.
bool is_at(int fd, const std::string& path) {
  struct stat held {
  }, there{};
  return ::fstat(fd, &held) == 0 && ::stat(path.c_str(), &there) == 0 &&
         held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

// Takes the file's lock. A runner that was killed a moment ago may have left a process that was
// just made and still holds what it inherited: such a one lets go as soon as it runs at all.
bool take_lock(int fd) {
  constexpr auto kStep = std::chrono::milliseconds(20);
  constexpr int kSteps = 100;
  for (int step = 0; ::flock(fd, LOCK_EX | LOCK_NB) != 0; ++step) {
    if (step == kSteps) return false;
    std::this_thread::sleep_for(kStep);
  }
  return true;
}

}  // namespace

JournalWriter::JournalWriter(const std::string& path, const std::function<bool()>& wait)
    : path_(path) {
  const auto folder = std::filesystem::path(path).parent_path().string();
  if (!folder.empty()) make_directories(folder);
  do {
    fd_ = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (!fd_) fail_to_write("write journal", path, errno);
    while (!take_lock(fd_.get())) {
      if (wait && wait()) continue;
      throw JournalHeld(fmt::format("another runner is writing this journal: '{}'", path));
    }
  } while (!is_at(fd_.get(), path));
}

void JournalWriter::cut_torn_line() {
  const std::string content = read_file(path_);
  const auto whole = content.rfind('\n') + 1;  // npos + 1 = 0: only a torn line
  if (whole < content.size() && ::ftruncate(fd_.get(), static_cast<off_t>(whole)) != 0) {
    fail_to_write("cut the torn last line off", path_, errno);
  }
  is_whole_ = true;
}

void JournalWriter::append(std::span<const Row> rows) {
  if (!is_at(fd_.get(), path_)) {
    throw EnvironmentError(
        fmt::format("the journal was removed or replaced while the run wrote it: '{}'", path_));
  }
  if (!is_whole_) cut_torn_line();
  std::string lines;
  for (const Row& row : rows) lines += row_to_line(row) + "\n";
  const off_t before = ::lseek(fd_.get(), 0, SEEK_END);
  try {
    write_fully(fd_.get(), lines, path_);
    if (::fdatasync(fd_.get()) != 0) fail_to_write("sync", path_, errno);
  } catch (...) {
    // The error that is already under way is the one to report.
    [[maybe_unused]] const int ignored = ::ftruncate(fd_.get(), before);
    throw;
  }
}

Salvage salvage_journal(std::string_view content) {
  Salvage salvage;
  struct Kept {
    std::size_t line;
    std::string_view text;
  };
  std::map<std::pair<std::string, std::string>, Kept> kept;  // by run and attempt
  for (std::size_t number = 1; !content.empty(); ++number) {
    const auto end = content.find('\n');
    const auto line = content.substr(0, end);
    content.remove_prefix(end == std::string_view::npos ? content.size() : end + 1);
    const auto leave = [&](std::string why) {
      salvage.left_out.push_back({number, std::move(why)});
    };
    const bool torn = end == std::string_view::npos;
    if (!line_is_untouched(line)) {
      leave(torn ? "incomplete: the file ends within it" : "not as it was written");
      continue;
    }
    try {
      const Row row = row_from_line(line, fmt::format("line {}", number));
      const auto [first, is_new] =
          kept.try_emplace({row.run_id, row.attempt_id}, Kept{number, line});
      if (!is_new) {
        const auto& [before, text] = first->second;
        leave(text == line ? fmt::format("line {} again", before)
                           : fmt::format("the attempt of line {} a second time, with other content",
                                         before));
        continue;
      }
      salvage.lines.emplace_back(line);
    } catch (const UserError& e) {
      leave(e.what());
    }
  }
  return salvage;
}

}  // namespace assay::lab
