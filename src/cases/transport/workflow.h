// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a person does with the solver, from a file to a file: read a surface, prepare it, scan it,
// make tables of the coefficients, integrate them over energy, write everything down.

#include <memory>
#include <string>

#include "base/json.h"
#include "lab/measure/workload.h"
#include "transport/surface/surface.h"

namespace assay::cases::transport {

// The surface of a point as the text file that the first stage reads.
std::string surface_file(const assay::transport::Surface& surface);

// The whole of it as a workload, on that many threads. Outputs: "d", one row of D11, D31, D13, D33
// for each case, and "i", one row for each field and ν̂_th with the integrals of orders 0, 1, 2 of
// each coefficient.
std::unique_ptr<lab::Workload> make_workflow(const Json& point, int threads);

}  // namespace assay::cases::transport
