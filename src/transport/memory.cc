// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/memory.h"

namespace assay::transport {
namespace {

// Operators are put together entry by entry: two or three copies, each entry a node of its own.
constexpr double kBytesOfAnEntry = 250;
// Arrays of N² numbers that a lane holds: measured, with BLAS's own memory.
constexpr double kStructuredArrays = 7, kDenseArrays = 8, kMixedArrays = 4;

}  // namespace

double prepare_bytes(const Grid& grid) {
  return kBytesOfAnEntry * grid.points() * (grid.n_theta + grid.n_zeta);
}

double lane_bytes(const Grid& grid, Method method, bool parity, bool whole_system) {
  const double n = grid.points(), block = sizeof(double) * n * n;
  if (method == Method::kMixed) return (kMixedArrays + 0.5 * (grid.n_xi + 1)) * block;
  const double kept = whole_system ? grid.n_xi - 2.0 : 0;  // beyond the first three
  if (method == Method::kDense) return (kDenseArrays + kept) * block;
  const bool half = method == Method::kParity || (method == Method::kAuto && parity);
  return (kStructuredArrays + kept) * (half ? block / 4 : block);
}

}  // namespace assay::transport
