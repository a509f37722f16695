// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/choose/search_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/checked_line.h"
#include "base/error.h"
#include "base/file.h"

namespace assay::compiler {
namespace {

bool is_taken(std::string_view line, const std::string& path,
              const std::function<bool(const Json&)>& takes) {
  try {
    const auto json = read_checked_line(line, path);
    return json && takes(*json);
  } catch (const UserError&) {
    return false;  // a checksum, but not of JSON
  }
}

}  // namespace

SearchJournal::SearchJournal(std::string path, const std::function<bool(const Json&)>& takes)
    : path_(std::move(path)) {
  if (path_.empty() || !std::filesystem::exists(path_)) return;
  if (!std::filesystem::is_regular_file(path_)) fail("{}: not a file", path_);
  read(read_file(path_), takes);
}

void SearchJournal::read(const std::string& text, const std::function<bool(const Json&)>& takes) {
  bytes_ = text.size();
  is_torn_ = !text.empty() && text.back() != '\n';
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    ++number;
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (end < text.size() && is_taken(line, path_, takes)) {
      taken_.append(line) += '\n';
    } else if (refused_++ == 0) {
      first_ = number;
    }
  }
}

std::string SearchJournal::warning() const {
  if (refused_ == 0) return {};
  const auto others = refused_ == 1 ? "" : fmt::format(" (and {} lines after it)", refused_ - 1);
  return fmt::format("{}: line {}{} was torn or changed and counts for nothing", path_, first_,
                     others);
}

void SearchJournal::add(const Json& line) {
  if (path_.empty()) return;
  const auto text = checked_line(line);
  make_directories(std::filesystem::path(path_).parent_path().string());
  // Not where another search has added lines meanwhile: those are its own work. One that adds a
  // line at this very moment tries that candidate again the next time.
  std::error_code ignored;
  if (refused_ > 0 && std::filesystem::file_size(path_, ignored) == bytes_) {
    write_file_atomically(path_, taken_ + text);
  } else {
    // A torn line becomes one by itself.
    const UniqueFd fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (!fd) fail_to_write("write", path_, errno);
    write_fully(fd.get(), (is_torn_ ? "\n" : "") + text, path_);
    ::fsync(fd.get());
  }
  is_torn_ = false;
  refused_ = 0;
  taken_.clear();
}

}  // namespace assay::compiler
