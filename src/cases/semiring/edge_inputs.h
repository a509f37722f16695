// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/json.h"
#include "semiring/problem.h"
#include "tensor/tensor.h"

namespace assay::cases::semiring {

// A canonical point of ell_edge_aggregate, read: n vertices with k slots each, d features in and
// out.
struct EdgePoint {
  assay::semiring::EdgeReduce reduce = assay::semiring::EdgeReduce::kSum;
  DType dtype = DType::kF32;
  bool power_law = false;
  std::int64_t n = 0, k = 0, d = 0, seed = 0;

  explicit EdgePoint(const Json& point);
};

struct EdgeInputs {
  Tensor v, idx, x, w;
  explicit EdgeInputs(const EdgePoint& point);
};

// Generates input set `set`. python/assay_worker/edges.py makes the same bits.
//
//   x, w  uniform on [−√3, √3);  v  uniform on [0, 1);  idx  uniform over the vertices
//   power-law degrees: vertex i keeps its first min(k, ⌊2/√(1−u)⌋) slots (P(degree > t) ~ 4/t²),
//   the others are absent (−1)
void fill_inputs(const EdgePoint& point, int set, EdgeInputs& inputs);

// Slots that are present in input set `set`.
std::int64_t count_edges(const EdgePoint& point, int set);

}  // namespace assay::cases::semiring
