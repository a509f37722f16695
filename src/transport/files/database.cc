// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/files/database.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/clock.h"
#include "base/error.h"
#include "transport/files/booz.h"
#include "transport/files/database_columns.h"
#include "transport/files/vmec.h"

namespace assay::transport {
namespace {

void check_axis(const std::vector<double>& values, const char* name) {
  if (values.empty()) fail("{} needs at least one value", name);
  for (const double v : values) {
    if (!std::isfinite(v)) fail("{} must be finite, got {}", name, v);
    if (std::ranges::count(values, v) > 1) fail("{}: {} is there twice", name, v);
  }
}

double seconds_since(std::int64_t begin) {
  return 1e-9 * static_cast<double>(monotonic_ns() - begin);
}

Surface surface_at(const DatabaseRequest& request, double rho) {
  return request.booz.empty() ? read_vmec(request.wout, rho * rho)
                              : read_booz(request.booz, rho * rho, {{}, {}, request.wout});
}

}  // namespace

std::vector<std::string> database_journals(const DatabaseRequest& request) {
  std::vector<std::string> names;
  if (request.scan.journal.empty()) return names;
  for (std::size_t i = 0; i < request.rho.size(); ++i) {
    names.push_back(fmt::format("{}.{}", request.scan.journal, i));
  }
  return names;
}

void check_database(const DatabaseRequest& request) {
  check_axis(request.rho, "rho");
  check_axis(request.nu_v, "nu");
  check_axis(request.er_tilde, "er");
  for (const double rho : request.rho) {
    if (!(rho > 0 && rho <= 1)) fail("rho must be above 0 and at most 1, got {}", rho);
  }
  for (const double nu : request.nu_v) {
    if (!(nu > 0)) fail("nu must be above 0, got {}", nu);
  }
  if (!(request.min_bmn >= 0 && request.min_bmn < 1)) {
    fail("min_bmn must be at least 0 and below 1, got {}", request.min_bmn);
  }
  for (const double rho : request.rho) {
    read_vmec_facts(request.wout, rho * rho);
    surface_at(request, rho);
  }
}

DatabaseResult make_database(const DatabaseRequest& request,
                             const std::function<void(const DatabaseSurface&)>& on_surface) {
  check_database(request);
  const auto journals = database_journals(request);
  const auto solver = request.solver ? request.solver
                                     : [](const Prepared& prepared, const std::vector<Case>& cases,
                                          const ScanOptions& options) {
                                         return solve_scan(prepared, cases, options);
                                       };
  DatabaseResult result;
  DatabaseColumns columns(request.nu_v, request.er_tilde);
  for (std::size_t i = 0; i < request.rho.size(); ++i) {
    const double rho = request.rho[i];
    DatabaseSurface report{rho};
    auto begin = monotonic_ns();
    const auto facts = read_vmec_facts(request.wout, rho * rho);
    Surface surface = surface_at(request, rho);
    // r = √(V/(2π² R_00))·ρ is the radius that the file's factors are made of.
    surface.psi_prime = 2 * facts.psi_edge * rho / facts.volume_radius;
    if (request.min_bmn > 0) drop_small_modes(surface, request.min_bmn);
    std::optional<Prepared> prepared;
    if (!request.accuracy) prepared = prepare(surface, request.grid);
    report.prepare_s = seconds_since(begin);

    const DatabaseRadius radius(rho, facts);
    std::vector<double> epsi;
    for (const double e : request.er_tilde) epsi.push_back(radius.es(e) / facts.psi_edge);
    ScanOptions options = request.scan;
    if (!journals.empty()) options.journal = journals[i];
    begin = monotonic_ns();
    const auto cases = case_grid(request.nu_v, epsi);
    const auto scan = request.accuracy ? solve_scan_to(surface, cases, options, *request.accuracy)
                                       : solver(*prepared, cases, options);
    report.solve_s = seconds_since(begin);
    report.solved = scan.solved;
    report.resumed = scan.resumed;
    if (!scan.complete) {
      result.complete = false;
      return result;
    }
    if (scan.solutions.empty()) continue;
    if (request.accuracy) report.cost = cost_of(scan.solutions, surface.cosine_only());
    columns.add(radius, facts, scan.solutions, surface.psi_prime / facts.psi_edge);
    for (const auto& s : scan.solutions) {
      for (const auto& w : s.warnings) {
        if (std::ranges::find(report.warnings, w) == report.warnings.end()) {
          report.warnings.push_back(w);
        }
      }
    }
    if (on_surface) on_surface(report);
    result.surfaces.push_back(std::move(report));
  }
  if (result.surfaces.empty()) return result;
  result.data = columns.take();
  result.data.texts["source_name"] =
      std::filesystem::path(request.booz.empty() ? request.wout : request.booz).filename().string();
  return result;
}

}  // namespace assay::transport
