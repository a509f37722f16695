// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files that people write and name on the command line: TOML, JSON, tables, what other tools wrote.
// What has no end (a device, a pipe) or is larger than anybody writes is refused before it fills
// the memory.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.h"

namespace assay {

inline constexpr std::size_t kLargestInputFile = std::size_t{64} << 20;

// A regular file of at most `largest` bytes, a piece at a time. Never waits for a writer. All throw
// UserError that names the path, and the limit where that is exceeded.
class InputFile {
 public:
  InputFile(std::string path, std::size_t largest);

  // See TextPieces. Whoever reads it from its beginning again reads the same: a file that was
  // changed since is refused.
  std::string_view piece(std::size_t offset);

 private:
  struct State {
    std::int64_t size, modified_ns;
    bool operator==(const State&) const = default;
  };
  State state() const;
  void check_size(std::size_t size) const;

  std::string path_;
  std::size_t largest_;
  UniqueFd fd_;
  std::string buffer_;
  State first_;  // when it was opened
  int passes_ = 0;
};

// The whole content of such a file.
std::string read_input_file(const std::string& path, std::size_t largest = kLargestInputFile);

}  // namespace assay
