// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A systolic array of R x C multiply-accumulate cells. The operand that stays is mapped onto the
// array in folds; each fold streams the third dimension through, plus the time to fill and drain:
//
//   output-stationary  ceil(M/R) ceil(N/C) folds of K + R + C - 2 cycles
//   weight-stationary  ceil(K/R) ceil(N/C) folds of M + 2R + C - 2 cycles
//   input-stationary   ceil(K/R) ceil(M/C) folds of N + 2R + C - 2 cycles

#include <cstdint>

#include "chip/gemm/shape.h"
#include "chip/topology/topology.h"

namespace assay::chip {

struct SystolicArray {
  std::int64_t rows = 1, columns = 1;
  Dataflow dataflow = Dataflow::kOutputStationary;
};

// Cycles from the first operand in to the last result out. All dimensions positive. (SCALE-Sim
// prints the index of the last cycle, one less.) Throws UserError on overflow.
std::int64_t systolic_cycles(const GemmShape& shape, const SystolicArray& array);

// A whole matrix product on the topology's array, operands always at hand.
Time systolic_time(const GemmShape& shape, const Topology& topology);

// How long the MAC engine of the topology works on one full tile: padded MACs over the rate, or the
// array's cycles over the clock.
Time tile_compute_time(const Topology& topology);

}  // namespace assay::chip
