// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/input_file.h"

#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/file.h"
#include "base/units.h"

namespace assay {

std::string read_input_file(const std::string& path) {
  const UniqueFd fd = open_regular_file(path);
  // Counted while reading: the file may grow, and files under /proc say 0.
  std::string content;
  char buffer[1 << 16];
  while (content.size() <= kLargestInputFile) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n == 0) return content;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot read '{}': {}", path, errno_text(errno));
    content.append(buffer, static_cast<std::size_t>(n));
  }
  fail("larger than the {} that such a file may have: '{}'",
       format_bytes(static_cast<double>(kLargestInputFile)), path);
}

}  // namespace assay
