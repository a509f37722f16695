// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a database file holds of each surface, and how it is laid out.

#include <string>
#include <vector>

#include "transport/files/data_file.h"
#include "transport/files/vmec.h"
#include "transport/solve.h"

namespace assay::transport {

// The factors between the radial coordinates of a surface: r = aρ, s = ρ², and r̃ with
// ψ = B00·r̃²/2; a from the volume, B00 over Boozer's angles.
//   dr/ds = a/(2ρ),  dr̃/dr = 2ψ_a/(a² B00),  E_r = Ẽ_r·(dr̃/dr)·B00,  E_s = Ẽ_r·(dr̃/ds)·B00
struct DatabaseRadius {
  double rho = 0, a = 0, b00 = 0;
  double drds = 0, dr_tilde_dr = 0, dr_tilde_ds = 0;

  DatabaseRadius(double rho, const VmecFacts& facts);
  double er(double er_tilde) const { return er_tilde * dr_tilde_dr * b00; }
  double es(double er_tilde) const { return er_tilde * dr_tilde_ds * b00; }
};

// Collects surfaces from the axis outward.
class DatabaseColumns {
 public:
  DatabaseColumns(std::vector<double> nu_v, std::vector<double> er_tilde);

  // `ds_factor` = (dψ/dr)/(dψ/ds) of the solutions: coefficients are kept for the coordinate s.
  void add(const DatabaseRadius& radius, const VmecFacts& facts,
           const std::vector<Solution>& solutions, double ds_factor);
  DataFile take();

 private:
  Variable& find(const std::string& name);
  std::vector<Variable> columns_;
  std::vector<double> nu_v_, er_tilde_;
  double minor_radius_ = 0, psi_edge_ = 0;
};

}  // namespace assay::transport
