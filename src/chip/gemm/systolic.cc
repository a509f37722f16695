// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "chip/gemm/systolic.h"

#include "chip/kernel/whole_parts.h"

namespace assay::chip {
std::int64_t systolic_cycles(const GemmShape& shape, const SystolicArray& array) {
  const auto [m, k, n] = shape;
  const auto r = array.rows, c = array.columns;
  check(m > 0 && k > 0 && n > 0 && r > 0 && c > 0, "a systolic array multiplies something");
  std::int64_t folds_down = 0, folds_across = 0, streamed = 0, fill = 0;
  switch (array.dataflow) {
    case Dataflow::kOutputStationary:
      folds_down = ceil_div(m, r), folds_across = ceil_div(n, c), streamed = k, fill = r + c - 2;
      break;
    case Dataflow::kWeightStationary:
      folds_down = ceil_div(k, r), folds_across = ceil_div(n, c), streamed = m;
      fill = 2 * r + c - 2;
      break;
    case Dataflow::kInputStationary:
      folds_down = ceil_div(k, r), folds_across = ceil_div(m, c), streamed = n;
      fill = 2 * r + c - 2;
      break;
  }
  std::int64_t folds = 0, length = 0, cycles = 0;
  if (__builtin_mul_overflow(folds_down, folds_across, &folds) ||
      __builtin_add_overflow(streamed, fill, &length) ||
      __builtin_mul_overflow(folds, length, &cycles)) {
    fail("too large for a systolic array: {}x{}x{}", m, k, n);
  }
  return cycles;
}

Time systolic_time(const GemmShape& shape, const Topology& topology) {
  const auto& mac = topology.mac;
  return topology.clock.duration(
      systolic_cycles(shape, {mac.array_rows, mac.array_columns, mac.dataflow}));
}

Time tile_compute_time(const Topology& topology) {
  const auto& tile = topology.tile;
  const auto& mac = topology.mac;
  if (mac.kind == MacKind::kRate) return mac.rate.duration(tile.m * tile.k * tile.n);
  return systolic_time({tile.m, tile.k, tile.n}, topology);
}

}  // namespace assay::chip
