// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/show/terminal/noise_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace assay::lab {

std::string noise_table(std::span<const NoiseLine> lines) {
  std::size_t width = 0;
  const auto name = [](const NoiseLine& l) {
    return fmt::format("{} {}{}", l.case_name, l.provider, l.point.empty() ? "" : " " + l.point);
  };
  for (const auto& line : lines) width = std::max(width, name(line).size());
  std::string text = fmt::format("  {:<{}}  {:>14}  {:>17}  {:>12}  {:>8}\n", "", width,
                                 "within process", "between processes", "between runs", "attempts");
  for (const auto& line : lines) {
    const auto& b = line.budget;
    const auto cell = [](const std::optional<double>& sigma, int columns) {
      return pad_left(sigma ? fmt::format("{:.2f} %", 100 * *sigma) : "–", columns);
    };
    text += fmt::format(
        "  {:<{}}  {}  {}  {}  {:>8}{}\n", name(line), width, cell(b.within_process, 14),
        cell(b.between_processes, 17), cell(b.between_runs, 12), b.attempts,
        line.bimodal > 0 ? fmt::format("  bimodal in {} of {} runs", line.bimodal, line.groups)
                         : "");
  }
  return text;
}

}  // namespace assay::lab
