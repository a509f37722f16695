// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/gnuplot.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/process.h"

namespace assay {

std::string gnuplot_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    if (c != '\n' && c != '\r' && c != '\0') out += c;
  }
  return out + "'";
}

void run_gnuplot(std::string_view program, std::string_view what) {
  if (!find_program("gnuplot")) {
    throw EnvironmentError(fmt::format("drawing '{}' needs the program 'gnuplot'", what));
  }
  const TemporaryDirectory folder;
  const auto script = folder.path() + "/figure.gp";
  write_file_atomically(script, program);
  ProcessSpec spec;
  spec.argv = {"gnuplot", script};
  spec.environment = {{"LC_ALL", "C.UTF-8"}};
  spec.time_limit_s = 120;
  const auto result = run_process(spec);
  if (result.exit_code == 0) return;
  auto reason = result.timed_out ? "it took more than two minutes" : result.stderr_text;
  reason = reason.substr(0, 300);
  std::ranges::replace(reason, '\n', ' ');
  fail("gnuplot could not draw '{}': {}", what, reason);
}

}  // namespace assay
