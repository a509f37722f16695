// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/resident_memory.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/engines/cores.h"
#include "cli/engines/transport_commands.h"
#include "cli/program.h"
#include "transport/memory.h"

namespace assay::cli {

namespace tr = assay::transport;

Lanes lanes_that_fit(const tr::Grid& grid, tr::Method method, bool parity, std::optional<int> asked,
                     std::size_t cases) {
  const double available = available_bytes(), prepare = tr::prepare_bytes(grid);
  const auto most = static_cast<int>(std::min<std::size_t>(cases, 1'000'000));
  const int wanted = std::max(1, std::min(asked.value_or(usable_cores()), most));
  double lane = 0, fit = 0;
  for (const bool whole : {true, false}) {
    lane = tr::lane_bytes(grid, method, parity, whole);
    fit = std::floor((available - prepare) / lane);
    if (fit >= wanted) return {wanted, whole};
    if (!asked && fit >= 1) return {static_cast<int>(fit), whole};
  }
  fail(
      "the grid {}x{}x{} needs {} of memory for {} thread{} ({} for each), {} are available: take "
      "a smaller grid{}",
      grid.n_theta, grid.n_zeta, grid.n_xi, format_bytes(prepare + wanted * lane), wanted,
      wanted == 1 ? "" : "s", format_bytes(lane), format_bytes(std::max(0.0, available)),
      fit >= 1 ? fmt::format(" or --threads {}", fit) : "");
}

int status_of(const TransportArguments& a, bool warned) {
  return a.strict && warned ? kUnresolved : kFine;
}

std::map<std::string, std::string> provenance_texts(const std::vector<std::string>& files) {
  std::map<std::string, std::string> texts = {{"program", version_line()},
                                              {"created", utc_iso8601(realtime_ns())}};
  for (const auto& file : files) {
    auto& hashes = texts["input_files_sha256"];
    hashes += fmt::format("{}{}  {}", hashes.empty() ? "" : "\n", sha256_file(file), file);
  }
  return texts;
}

}  // namespace assay::cli
