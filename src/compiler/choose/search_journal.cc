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
  if (!std::filesystem::is_regular_file(path_)) fail("{}: not a file", path_);
  const auto text = read_file(path_);
  std::size_t at = 0;
  for (std::size_t end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    try {
      auto line = parse_json(text.substr(at, end - at), path_);
      if (line.is_object()) lines_.push_back(std::move(line));
    } catch (const UserError&) {
      continue;
    }
  }
  is_torn_ = at != text.size();
}

void SearchJournal::add(Json line) {
  // A torn line becomes one by itself, which says nothing.
  const auto text = (is_torn_ ? "\n" : "") + canonical_json(line) + "\n";
  lines_.push_back(std::move(line));
  if (path_.empty()) return;
  make_directories(std::filesystem::path(path_).parent_path().string());
  const UniqueFd fd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!fd) fail_to_write("write", path_, errno);
  write_fully(fd.get(), text, path_);
  ::fsync(fd.get());
  is_torn_ = false;
}

}  // namespace assay::compiler
