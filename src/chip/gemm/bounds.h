// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Times that no schedule of a plan can beat, whatever contends with whatever. They hold for the
// composite window without the up-front load.

#include "chip/gemm/tile_plan.h"
#include "chip/topology/topology.h"

namespace assay::chip {

struct GemmBounds {
  Time dma_in = 0;    // all channels busy with everything that is streamed
  Time fetch = 0;     // the fetch engine of the element with most steps
  Time gemm = 0;      // its MAC engine
  Time dma_out = 0;   // all channels busy with the outputs
  Time shared = 0;    // reads and writes together, where they share the channels
  Time path = 0;      // first operands in, one engine all the way, last output out
  Time roofline = 0;  // max(padded MACs / peak rate, bytes / memory rate)
  // The same end to end: what is loaded up front is read as well. Not part of best().
  Time roofline_with_load = 0;

  Time best() const;  // the largest of them
};

GemmBounds gemm_bounds(const GemmPlan& plan, const Topology& topology);

}  // namespace assay::chip
