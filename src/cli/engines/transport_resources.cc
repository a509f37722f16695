// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>

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
#include "transport/ranks/ranks.h"
#include "transport/scan/axis.h"

namespace assay::cli {

namespace tr = assay::transport;

Lanes lanes_that_fit(const tr::Grid& grid, tr::Method method, bool parity, std::optional<int> asked,
                     std::size_t cases) {
  const double available = available_bytes(), prepare = tr::prepare_bytes(grid);
  const int wanted = threads_for(asked, cases);
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

std::optional<tr::AccuracyOptions> accuracy_asked(const TransportArguments& a,
                                                  const tr::Ranks* ranks) {
  tr::AccuracyOptions options;
  if (a.accuracy.empty()) {
    if (a.max_points) fail("--max-points goes with --accuracy, got {}", *a.max_points);
    if (a.max_xi) fail("--max-xi goes with --accuracy, got {}", *a.max_xi);
    return std::nullopt;
  }
  options.accuracy = parse_share(a.accuracy, "--accuracy");
  if (!(options.accuracy > 0 && options.accuracy < 1)) {
    fail("--accuracy must be above 0 and below 100 %, got '{}'", a.accuracy);
  }
  if (ranks != nullptr && ranks->size() > 1) {
    fail("--accuracy goes over threads, not over ranks: start it without mpirun");
  }
  if (a.max_points) options.limits.max_points = *a.max_points;
  if (a.max_xi) options.limits.max_xi = *a.max_xi;
  return options;
}

int threads_for(std::optional<int> asked, std::size_t cases) {
  if (asked && *asked < 1) fail("--threads must be at least 1, got {}", *asked);
  const auto most = static_cast<int>(std::min<std::size_t>(cases, 1'000'000));
  return std::max(1, std::min(asked.value_or(usable_cores()), most));
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code none;
  if (std::filesystem::equivalent(a, b, none)) return true;
  return std::filesystem::weakly_canonical(a) == std::filesystem::weakly_canonical(b);
}

void refuse_overwriting(const std::vector<std::string>& written,
                        const std::vector<std::string>& read) {
  for (const auto& output : written) {
    for (const auto& input : read) {
      if (is_same_file(output, input)) {
        fail("the output would overwrite '{}', which is read: '{}'", input, output);
      }
    }
  }
}

std::vector<double> typed_list(const std::vector<std::string>& items, const char* flag,
                               const char* otherwise) {
  return tr::parse_axis(items.empty() ? otherwise : fmt::format("{}", fmt::join(items, ",")), flag);
}

Json cost_json(const tr::AccuracyCost& c) {
  return {{"cases", c.cases},
          {"solves", c.solves},
          {"flops", c.flops},
          {"fixed_grid_flops", c.fixed_flops},
          {"finest",
           {{"n_theta", c.finest.n_theta}, {"n_zeta", c.finest.n_zeta}, {"n_xi", c.finest.n_xi}}}};
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
