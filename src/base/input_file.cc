// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/input_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/units.h"

namespace assay {

InputFile::InputFile(std::string path, std::size_t largest)
    : path_(std::move(path)),
      largest_(largest),
      fd_(open_regular_file(path_)),
      buffer_(std::size_t{1} << 16, '\0'),
      first_(state()) {
  check_size(static_cast<std::size_t>(first_.size));
}

std::string_view InputFile::piece(std::size_t offset) {
  if (offset == 0) ++passes_;
  ssize_t n = 0;
  do {
    n = ::pread(fd_.get(), buffer_.data(), buffer_.size(), static_cast<off_t>(offset));
  } while (n < 0 && errno == EINTR);
  if (n < 0) fail("cannot read '{}': {}", path_, errno_text(errno));
  if (n == 0 && passes_ > 1 && state() != first_) fail("changed while it was read: '{}'", path_);
  // Counted while reading: the file may grow, and files under /proc say 0.
  check_size(offset + static_cast<std::size_t>(n));
  return std::string_view(buffer_).substr(0, static_cast<std::size_t>(n));
}

InputFile::State InputFile::state() const {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) fail("cannot read '{}': {}", path_, errno_text(errno));
  return {status.st_size,
          std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

void InputFile::check_size(std::size_t size) const {
  if (size <= largest_) return;
  fail("larger than the {} that such a file may have: '{}'",
       format_bytes(static_cast<double>(largest_)), path_);
}

std::string read_input_file(const std::string& path, std::size_t largest) {
  InputFile file(path, largest);
  std::string content;
  for (auto piece = file.piece(0); !piece.empty(); piece = file.piece(content.size())) {
    content += piece;
  }
  return content;
}

}  // namespace assay
