// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/installation.h"

namespace assay::cli {

int serve(char** argv) {
  const auto program = serve_program();
  ::execv(program.c_str(), argv);
  throw EnvironmentError(fmt::format("cannot start '{}': {}", program, errno_text(errno)));
}

}  // namespace assay::cli
