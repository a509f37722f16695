// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Traces for Perfetto and chrome://tracing: one track per engine slot (or per rank), a slice per
// operation, arrows along dependencies, counters for memory and buffers. Times are microseconds
// with six decimals: picoseconds, exactly. A slice lasts as long as the operation was served, so
// that the slices of a track add up to the busy time that metrics report.

#include <string>

#include "chip/collective.h"
#include "chip/simulate.h"

namespace assay::chip {

// JSON text of the whole simulation, up-front loads included.
std::string gemm_trace(const GemmResult& result, const Topology& topology);

// JSON text with one track per rank and message in flight.
std::string collective_trace(const CollectiveResult& result);

}  // namespace assay::chip
