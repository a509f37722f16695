// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "lab/record/case.h"

namespace assay::cases::transport {

// One monoenergetic case as a person states it: ν̂ = ν/v [1/m] and Ê_r = E_r/v [T].
struct Drive {
  double nu_hat = 0, er_hat = 0;
};

// A canonical point of any case of the suite, read. What a case has no parameter for has the value
// that is given here. Knows neither the engine nor the oracle: both start from it.
struct TransportPoint {
  std::string surface;
  bool from_file = false;  // transport_workflow: B0 is the (0, 0) mode of the surface's file
  int n_theta = 0, n_zeta = 0, n_xi = 0;
  int cases = 1;       // monoenergetic cases of one call
  bool field = true;   // transport_solve: Ê_r = 1e-3, else 0
  bool ladder = true;  // several cases: pairs along ν̂ and Ê_r, else a grid
  bool zero = false;   // a ladder without fields
  int lanes = 0;       // transport_strong_scaling; 0: the cores of the attempt
  int batch = 32;
  int fields = 12;  // of a grid
  double lowest_nu = 1e-4, highest_nu = 1e-2;
  std::int64_t seed = 0;

  explicit TransportPoint(const Json& point);

  int grid_points() const { return n_theta * n_zeta; }
  // The cases of input set `set`: a factor in [0.9, 1.1) drawn for the set moves all ν̂, another one
  // all fields, so that no set has the answers of another. python/assay_worker/transport.py makes
  // the same numbers up to the last bits of pow().
  //   one case   ν̂ = 1e-3, Ê_r = 1e-3 or 0
  //   ladder     ν̂ = 1e-4 … 1e-2 in equal ratios, Ê_r = 0 … 2e-3 in equal steps
  //   zero       the same ν̂, Ê_r = 0
  //   grid       the same ν̂ by the same Ê_r, ν̂ slowest; of transport_workflow ν̂ = 1e-3 … 1
  std::vector<Drive> inputs(int set) const;
  // The factor of all ν̂ of a set.
  double nu_factor(int set) const;
};

// Of transport_workflow: the energy integrals of each coefficient, orders 0, 1, 2, for some ν̂_th.
inline constexpr int kThermal = 3, kOrders = 3, kCoefficients = 4;
// ν̂_th of a set: 1e-2, 1e-1 and 1 times the set's factor.
std::vector<double> thermal_collisionalities(const TransportPoint& point, int set);

}  // namespace assay::cases::transport
