// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace assay::cli {

int terminal_columns(int fd) {
  winsize size{};
  if (isatty(fd) != 1) return 0;
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

lab::TableStyle stdout_style() {
  const int columns = terminal_columns(STDOUT_FILENO);
  return {.width = columns, .colour = lab::wants_colour(columns > 0)};
}

}  // namespace assay::cli
