// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Points of the suite, read into what the engine takes.

#include "base/json.h"
#include "chip/collective.h"
#include "chip/simulate.h"

namespace assay::cases::chip {

struct GemmPoint {
  assay::chip::GemmOptions options;
  assay::chip::Topology topology;

  // chip_gemm: m, k, n, variant, pes (a square grid). chip_buffers: depth as well.
  explicit GemmPoint(const Json& point);
};

struct AllReducePoint {
  assay::chip::CollectiveOptions options;
  assay::chip::Topology topology;

  explicit AllReducePoint(const Json& point);  // bytes, algorithm, network, ranks
};

// What the data that travels in input set `set` of a point is drawn from.
std::uint64_t data_seed(const Json& point, int set);

}  // namespace assay::cases::chip
