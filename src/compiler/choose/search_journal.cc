// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/choose/search_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"

namespace assay::compiler {

SearchJournal::SearchJournal(std::string path) : path_(std::move(path)) {
  if (path_.empty() || !std::filesystem::exists(path_)) return;
  const auto text = read_file(path_);
  std::size_t at = 0;
  while (true) {
    const auto end = text.find('\n', at);
    if (end == std::string::npos) break;
    try {
      lines_.push_back(parse_json(text.substr(at, end - at), path_));
    } catch (const UserError&) {
      break;
    }
    at = end + 1;
  }
  if (at != text.size()) write_file_atomically(path_, text.substr(0, at));
}

void SearchJournal::add(Json line) {
  const auto text = canonical_json(line) + "\n";
  lines_.push_back(std::move(line));
  if (path_.empty()) return;
  make_directories(std::filesystem::path(path_).parent_path().string());
  const UniqueFd fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!fd) fail_to_write("write", path_, errno);
  write_fully(fd.get(), text, path_);
  ::fsync(fd.get());
}

}  // namespace assay::compiler
