// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A database of monoenergetic coefficients over an equilibrium: ρ × ν/v × Ẽ_r, in the layout that
// NEOPAX reads (format version 2).

#include <functional>
#include <string>
#include <vector>

#include "transport/files/data_file.h"
#include "transport/scan/scan.h"

namespace assay::transport {

struct DatabaseRequest {
  std::string wout;              // VMEC file: minor radius, edge flux, and the surfaces …
  std::string booz;              // … unless this Boozer file is given
  std::vector<double> rho;       // √ψ_n, above 0 and at most 1
  std::vector<double> nu_v;      // ν/v [1/m]
  std::vector<double> er_tilde;  // Ẽ_r, E_r/v in units of B00·dr̃/dr
  Grid grid;
  double min_bmn = 0;
  ScanOptions scan;
};

struct DatabaseSurface {
  double rho = 0;
  double prepare_s = 0, solve_s = 0;
  std::size_t solved = 0, resumed = 0;
  std::vector<std::string> warnings;
};

// Solves surface after surface; `on_surface` is told after each. With scan.journal set, each
// surface has a journal of its own ("<journal>.<index>"). Throws what the readers and solve_scan
// throw; a scan that was interrupted throws nothing and leaves `complete` false.
struct DatabaseResult {
  DataFile data;  // rho, nu_v, Er_tilde, Er, Es, drds, dr_tildedr, dr_tildeds, Er_to_Ertilde, D11 …
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
