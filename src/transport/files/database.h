// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A database of monoenergetic coefficients over an equilibrium: ρ × ν/v × Ẽ_r, as NTX writes and
// NEOPAX reads it (format version 2). Coefficients are those of the coordinate s = ψ/ψ_a: whoever
// reads them multiplies D11 by (dr/ds)² and D13, D31 by dr/ds. docs/transport.md has every name.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "transport/files/data_file.h"
#include "transport/scan/accuracy.h"

namespace assay::transport {

// Solves the cases of a surface; see solve_scan. Ranks that only help leave `solutions` empty.
using SurfaceSolver =
    std::function<ScanResult(const Prepared&, const std::vector<Case>&, const ScanOptions&)>;

struct DatabaseRequest {
  std::string wout;              // VMEC file: radii, fluxes, and the surfaces …
  std::string booz;              // … unless this Boozer file is given
  std::vector<double> rho;       // √ψ_n, above 0 and at most 1
  std::vector<double> nu_v;      // ν/v [1/m]
  std::vector<double> er_tilde;  // Ẽ_r/(v B00) = E_r/v in units of B00·dr̃/dr
  Grid grid;
  std::optional<AccuracyOptions> accuracy;  // in place of the grid: each case has its own
  double min_bmn = 0;                       // modes below this share of B_00 are left out
  ScanOptions scan;
  SurfaceSolver solver;  // empty: solve_scan; not with an accuracy
};

struct DatabaseSurface {
  double rho = 0;
  double prepare_s = 0, solve_s = 0;
  std::size_t solved = 0, resumed = 0;
  std::vector<std::string> warnings;
  AccuracyCost cost;  // with an accuracy
};

// Solves surface after surface; `on_surface` is told after each. With scan.journal set, each
// surface has a journal of its own ("<journal>.<index>"). Throws what the readers and solve_scan
// throw; a scan that was interrupted throws nothing and leaves `complete` false. Where the solver
// left the solutions empty, so is the data.
struct DatabaseResult {
  DataFile data;
  std::vector<DatabaseSurface> surfaces;
  bool complete = true;
};
// Throws what make_database would throw for axes and files, before anything is solved.
void check_database(const DatabaseRequest& request);
DatabaseResult make_database(const DatabaseRequest& request,
                             const std::function<void(const DatabaseSurface&)>& on_surface = {});

// The journals that make_database used, for removal once the database is written.
std::vector<std::string> database_journals(const DatabaseRequest& request);

}  // namespace assay::transport
