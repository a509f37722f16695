// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/cache_folder.h"

#include <cstdlib>

#include "base/error.h"

namespace assay {

std::string cache_folder() {
  const auto absolute = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr && *value == '/' ? value : "");
  };
  if (const auto cache = absolute("XDG_CACHE_HOME"); !cache.empty()) return cache + "/assay";
  const auto home = absolute("HOME");
  if (home.empty()) fail("there is no cache folder: neither XDG_CACHE_HOME nor HOME is set");
  return home + "/.cache/assay";
}

}  // namespace assay
