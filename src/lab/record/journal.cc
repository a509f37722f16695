// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/record/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/error.h"

namespace assay::lab {

Journal read_journal(const std::string& path) { return parse_journal(read_file(path), path); }

Journal parse_journal(std::string_view content, const std::string& path) {
  Journal journal;
  std::string_view rest = content;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) {
      journal.torn = true;  // the newline is written last
      break;
    }
    const auto line = rest.substr(0, end);
    journal.rows.push_back(row_from_line(line, fmt::format("{}:{}", path, number)));
    journal.lines.emplace_back(line);
    rest.remove_prefix(end + 1);
  }
  return journal;
}

JournalWriter::JournalWriter(const std::string& path) : path_(path) {
  const auto folder = std::filesystem::path(path).parent_path().string();
  if (!folder.empty()) make_directories(folder);
  fd_ = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!fd_) fail("cannot write journal '{}': {}", path, errno_text(errno));
  if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    fail("another runner is writing this journal: '{}'", path);
  }
  const std::string content = read_file(path);
  if (!content.empty() && content.back() != '\n') {
    const auto whole = content.rfind('\n') + 1;  // npos + 1 = 0: only a torn line
    if (::ftruncate(fd_.get(), static_cast<off_t>(whole)) != 0) {
      fail("cannot cut the torn last line off '{}': {}", path, errno_text(errno));
    }
  }
}

void JournalWriter::append(std::span<const Row> rows) {
  std::string lines;
  for (const Row& row : rows) lines += row_to_line(row) + "\n";
  const off_t before = ::lseek(fd_.get(), 0, SEEK_END);
  try {
    write_fully(fd_.get(), lines, path_);
    if (::fdatasync(fd_.get()) != 0) fail("cannot sync '{}': {}", path_, errno_text(errno));
  } catch (...) {
    // The error that is already under way is the one to report.
    [[maybe_unused]] const int ignored = ::ftruncate(fd_.get(), before);
    throw;
  }
}

}  // namespace assay::lab
