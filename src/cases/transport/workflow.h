// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a person does with the solver, from a file to a file: read a surface, prepare it, scan it,
// make tables of the coefficients, integrate them over energy, write everything down.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cases/transport/point.h"
#include "lab/measure/workload.h"

namespace assay::cases::transport {

inline constexpr int kThermal = 3, kOrders = 3, kCoefficients = 4;

// The surface of a point as the text file that the first stage reads.
std::string surface_file(const tr::Surface& surface);

// ν̂_th of the energy integrals of a set: 1e-2, 1e-1 and 1 times the set's factor.
std::vector<double> thermal_collisionalities(const TransportPoint& point, int set);

// The whole of it as a workload, on that many threads. Outputs: "d", one row of D11, D31, D13, D33
// for each case, and "i", one row for each field and ν̂_th with the integrals of orders 0, 1, 2 of
// each coefficient.
std::unique_ptr<lab::Workload> make_workflow(const Json& point, int threads);

// Both outputs. The integrals are those of the oracle's coefficients, by Simpson's rule in ln x
// piece by piece, where the engine has Gauss's rule in x; their tolerance is the coefficients'.
std::vector<lab::Expectation> workflow_expectations(const TransportPoint& point, int set);

}  // namespace assay::cases::transport
