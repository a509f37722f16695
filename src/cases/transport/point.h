// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/json.h"
#include "lab/record/case.h"
#include "transport/solve.h"

namespace assay::cases::transport {

namespace tr = assay::transport;

// A canonical point of any case of the suite, read. What a case has no parameter for has the value
// that is given here.
struct TransportPoint {
  tr::Surface surface;
  tr::Grid grid;
  int cases = 1;       // monoenergetic cases of one call
  bool field = true;   // transport_solve: Ê_r = 1e-3, else 0
  bool ladder = true;  // several cases: pairs along ν̂ and Ê_r, else a grid
  int lanes = 0;       // transport_strong_scaling; 0: the cores of the attempt
  int batch = 32;
  int fields = 12;  // of a grid
  double lowest_nu = 1e-4, highest_nu = 1e-2;
  std::int64_t seed = 0;

  explicit TransportPoint(const Json& point);

  // The cases of input set `set`: a factor in [0.9, 1.1) drawn for the set moves all ν̂, another one
  // all fields, so that no set has the answers of another. python/assay_worker/transport.py makes
  // the same numbers up to the last bits of pow().
  //   one case   ν̂ = 1e-3, Ê_r = 1e-3 or 0
  //   ladder     ν̂ = 1e-4 … 1e-2 in equal ratios, Ê_r = 0 … 2e-3 in equal steps
  //   grid       the same ν̂ by the same Ê_r, ν̂ slowest; of transport_workflow ν̂ = 1e-3 … 1
  std::vector<tr::Case> inputs(int set) const;
  // The factor of all ν̂ of a set.
  double nu_factor(int set) const;
};

// D11, D31, D13, D33 of the cases of a set, one row each, from the mixed-precision solver, whose
// f64 residuals leave 1e-12; at most `most` of them, spread over the list. The tolerance is the
// gate of the engine's tests: 1e-10 where a double-precision solver has 1e-11 (ν̂ ≥ 1e-3), 1e-7
// below. A first case at zero field on a rational surface, whose D11 no solver can know, is left
// out. Where the case has several lanes, the serial one's answers stand beside.
inline constexpr int kOracleCases = 8;
lab::Expectation expectation(const TransportPoint& point, int set, int most = kOracleCases);

}  // namespace assay::cases::transport
