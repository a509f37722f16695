// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// For tests: genuine files, which are not part of the repository.

#include <cstdlib>
#include <filesystem>
#include <string>

namespace assay::transport::testing {

// A file under transport/ of the shared data; empty where it is not there. Nobody must have it:
// whoever asks skips its test, and says so by no_shared_data().
inline std::string shared_data(const std::string& name) {
  const char* set = std::getenv("ASSAY_SHARED_DATA");
  const std::filesystem::path data = set != nullptr ? set : ASSAY_SHARED_DATA_DEFAULT;
  const auto path = data / "transport" / name;
  return std::filesystem::exists(path) ? path.string() : "";
}

inline std::string no_shared_data(const std::string& name) {
  return "no file transport/" + name + ": set ASSAY_SHARED_DATA to the folder that holds it";
}

}  // namespace assay::transport::testing
