// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/engines/kept_search.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/cache_folder.h"
#include "base/machine.h"

namespace assay::cli {

compiler::SearchOptions kept_search() {
  compiler::SearchOptions options;
  options.compile = compiler::options_from_environment();
  options.machine = read_machine().fingerprint();
  options.folder = cache_folder() + "/compiler";
  options.warn = [](const std::string& what) { fmt::print(stderr, "assay: warning: {}\n", what); };
  return options;
}

}  // namespace assay::cli
