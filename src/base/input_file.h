// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files that people write and name on the command line: TOML, JSON, small tables. They are read
// whole, so what has no end (a device, a pipe) or is larger than anybody writes is refused before
// it fills the memory.

#include <cstddef>
#include <string>

namespace assay {

inline constexpr std::size_t kLargestInputFile = std::size_t{64} << 20;

// The whole content of a regular file of at most kLargestInputFile bytes. Never waits for a writer.
// Throws UserError that names the path, and the limit where that is exceeded.
std::string read_input_file(const std::string& path);

}  // namespace assay
