// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "base/gnuplot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

namespace assay {

std::string gnuplot_quoted(std::string_view text) {
  const auto shown = printable(text);
  if (shown.find('\'') == std::string::npos) return "'" + shown + "'";
  // Two quotes in a row are one to gnuplot, but not at the beginning nor in pairs. Between double
  // quotes everything can be a number; of four digits where it begins with a zero, else of three.
  std::string out = "\"";
  for (const char c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || byte == ' ' || byte >= 0x80) {
      out += c;
    } else {
      out += fmt::format("\\{:0{}o}", byte, byte < 0100 ? 4 : 3);
    }
  }
  return out + "\"";
}

std::string gnuplot_tick_label(std::string_view text) {
  std::string format;
  for (const char c : text) format += c == '%' ? "%%" : std::string(1, c);
  return gnuplot_quoted(format);
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
