// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <span>

#include "base/error.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/engines/transport_commands.h"
#include "cli/engines/transport_device.h"
#include "kernels/blas/blas.h"
#include "transport/files/database.h"
#include "transport/ranks/ranks.h"
#include "transport/scan/axis.h"

namespace assay::cli {
namespace {

namespace tr = assay::transport;

constexpr std::size_t kMostWarnings = 12;  // printed for each surface; the file has all

}  // namespace

tr::Grid parse_grid(const std::string& text) {
  int number[3] = {0, 0, 0};
  const char *at = text.data(), *end = text.data() + text.size();
  for (int i = 0; i < 3; ++i) {
    const auto [next, error] = std::from_chars(at, end, number[i]);
    const bool separated = i == 2 ? next == end : next != end && *next == 'x';
    if (error != std::errc() || !separated) fail("--grid expects THETAxZETAxXI, got '{}'", text);
    at = next + 1;
  }
  const tr::Grid grid = {number[0], number[1], number[2]};
  tr::validate(grid);
  return grid;
}

namespace {

// The ranks share the cases of each surface. Rank 0 tells the others where it failed: they would
// wait for its next surface.
tr::SurfaceSolver shared_solver(tr::Ranks& ranks) {
  return [&ranks](const tr::Prepared& prepared, const std::vector<tr::Case>& cases,
                  const tr::ScanOptions& options) {
    enum { kDone, kFailed };
    tr::ScanResult result;
    try {
      ranks.run(prepared, options, [&](const tr::CaseSolver& solver) {
        result = tr::solve_scan(prepared, cases, options, solver);
      });
    } catch (...) {
      ranks.agree(kFailed);
      throw;
    }
    if (ranks.agree(kDone) == kFailed) fail("rank 0 gave up");
    return result;
  };
}

int database_here(const TransportArguments& a, tr::Ranks* ranks) {
  const bool root = ranks == nullptr || ranks->rank() == 0;
  // Refused before anything is solved.
  if (a.output.empty()) fail("database needs --output");
  if (root) tr::check_data_path(a.output);
  std::vector<std::string> files = {a.wout};
  if (!a.booz.empty()) files.push_back(a.booz);
  refuse_overwriting({a.output}, files);

  tr::DatabaseRequest request;
  request.wout = a.wout;
  request.booz = a.booz;
  request.rho = typed_list(a.rho_list, "--rho", tr::kDefaultRho);
  request.nu_v = typed_list(a.nu_list, "--nu", tr::kDefaultNu);
  request.er_tilde = typed_list(a.er_list, "--er", tr::kDefaultEr);
  request.min_bmn = a.min_bmn.value_or(0);
  request.accuracy = accuracy_asked(a, ranks);
  if (request.accuracy && !a.grid.empty()) {
    fail("--accuracy chooses the grids, leave out --grid '{}'", a.grid);
  }
  request.grid = parse_grid(a.grid.empty() ? "25x25x60" : a.grid);
  if (!a.method.empty()) request.scan.method = tr::method_from_name(a.method);
  if (a.batch) request.scan.batch = *a.batch;
  request.scan.journal = a.output + ".journal";
  say_when_interrupted(kGoesOn);
  if (ranks != nullptr) request.solver = shared_solver(*ranks);
  if (is_cuda(a.device)) {
    request.solver = scan_on_device;
    request.scan.device = a.device;
    request.scan.batch = a.batch.value_or(0);
  }
  tr::check_database(request);
  const bool no_field = std::ranges::all_of(request.er_tilde, [](double er) { return er == 0; });
  if (a.threads && *a.threads < 1) fail("--threads must be at least 1, got {}", *a.threads);
  // Ranks are lanes already.
  const auto threads = ranks != nullptr && !a.threads ? std::optional(1) : a.threads;
  const auto cases = request.nu_v.size() * request.er_tilde.size();
  if (request.accuracy) {
    request.scan.threads = threads_for(threads, cases);
  } else if (!is_cuda(a.device)) {
    const auto lanes = lanes_that_fit(request.grid, request.scan.method, no_field, threads, cases);
    request.scan.threads = lanes.count;
    request.scan.whole_system = lanes.whole_system;
  }
  if (is_cuda(a.device)) {
    std::fputs(
        fmt::format("{} surfaces of {} cases; {}\n", request.rho.size(), cases, device_name())
            .c_str(),
        stderr);
  } else if (root) {
    const auto shared = ranks == nullptr ? "" : fmt::format(" on each of {} ranks", ranks->size());
    std::fputs(
        fmt::format("{} surfaces of {} cases, batches of {}, {} lanes{}; {}\n", request.rho.size(),
                    cases,
                    std::min<std::size_t>(static_cast<std::size_t>(request.scan.batch), cases),
                    request.scan.threads, shared, blas::description() + "; 1 thread")
            .c_str(),
        stderr);
  }
  double solve_s = 0;
  tr::AccuracyCost cost;
  auto result = tr::make_database(request, [&](const tr::DatabaseSurface& s) {
    solve_s += s.solve_s;
    std::fputs(
        fmt::format("rho {:g}: prepare {}, solve {} ({} cases solved, {} resumed)\n", s.rho,
                    format_seconds(s.prepare_s), format_seconds(s.solve_s), s.solved, s.resumed)
            .c_str(),
        stderr);
    if (request.accuracy) {
      std::fputs(fmt::format("rho {:g}: {}\n", s.rho, tr::cost_text(s.cost)).c_str(), stderr);
      cost += s.cost;
    }
    const auto shown = std::min(s.warnings.size(), kMostWarnings);
    for (const auto& w : std::span(s.warnings).first(shown)) {
      std::fputs(fmt::format("warning: {}\n", w).c_str(), stderr);
    }
    if (s.warnings.size() > shown) {
      std::fputs(
          fmt::format("warning: and {} more, in the file\n", s.warnings.size() - shown).c_str(),
          stderr);
    }
  });
  if (!root) return kFine;
  const Uninterrupted writing;
  const auto provenance = provenance_texts(files);
  result.data.texts.insert(provenance.begin(), provenance.end());
  std::vector<std::string> warnings;
  for (const auto& s : result.surfaces) {
    for (const auto& w : s.warnings) warnings.push_back(fmt::format("rho {:g}: {}", s.rho, w));
  }
  result.data.texts["warnings"] = fmt::format("{}", fmt::join(warnings, "\n"));
  tr::write_data_file(a.output, result.data);
  for (const auto& journal : tr::database_journals(request)) {
    std::remove(journal.c_str());
    tr::remove_rank_journals(journal);
  }
  if (a.json) {
    Json surfaces = Json::array();
    for (const auto& s : result.surfaces) {
      surfaces.push_back({{"rho", s.rho},
                          {"prepare", s.prepare_s},
                          {"solve", s.solve_s},
                          {"solved", s.solved},
                          {"resumed", s.resumed},
                          {"warnings", s.warnings}});
    }
    Json json = {{"output", a.output}, {"surfaces", surfaces}, {"provenance", provenance}};
    if (request.accuracy) json["accuracy_cost"] = cost_json(cost);
    std::fputs((pretty_json(json) + "\n").c_str(), stdout);
  } else {
    std::fputs(fmt::format("wrote {}: {} x {} x {} cases in {}\n", a.output, request.rho.size(),
                           request.nu_v.size(), request.er_tilde.size(), format_seconds(solve_s))
                   .c_str(),
               stdout);
    if (request.accuracy) std::fputs((tr::cost_text(cost) + "\n").c_str(), stdout);
  }
  return status_of(a, std::ranges::any_of(result.surfaces, [](const tr::DatabaseSurface& surface) {
                     return !surface.warnings.empty();
                   }));
}

}  // namespace

int transport_database(const TransportArguments& a) {
  return over_ranks([&](tr::Ranks* ranks) { return database_here(a, ranks); });
}

}  // namespace assay::cli
