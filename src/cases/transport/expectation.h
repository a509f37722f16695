// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cases/transport/point.h"
#include "lab/record/case.h"

namespace assay::cases::transport {

// What the outputs of a set must be, from the oracle (oracle/coefficients.h), which shares no code
// with the engine. Empty where no row can be judged: a rational surface at zero field, whose D11 no
// f64 solver can know, an even grid with a field, whose highest mode has no equation, or a grid
// that would take the oracle minutes.
//
//   "d"   D11, D31, D13, D33 of each case: all rows where they are cheap, else the first, the last
//         and some that `draw` chooses. The tolerance is that of a careful f64 solver: 1e-10 for ν̂
//         ≥ 1e-3, 1e-7 below.
//   "i"   of transport_workflow: the energy integrals of the oracle's coefficients, for the fields
//         of which every case is known.
std::vector<lab::Expectation> expectations(const TransportPoint& point, int set, std::int64_t draw);

// The cases of a set that the oracle is asked for, ascending.
std::vector<std::int64_t> judged_rows(const TransportPoint& point, int set, std::int64_t draw);

}  // namespace assay::cases::transport
