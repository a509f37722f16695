// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What contract_loops.cc asks of the instruction set: the innermost loops of a contraction,
// with sums in registers.
//
//   c(p, i) = alpha·Σ_hk x(p, h, k, i)·y(p, h, k, i) + beta·c(p, i)     rows: i is a loop of c
//   c(p)    = alpha·Σ_hki x(p, h, k, i)·y(p, h, k, i) + beta·c(p)       sums: i is summed
//
// x is contiguous along i. A tile of several p and one or two vectors of i is summed over all terms
// before it is written: c is read and written once, and x once for several p where they share it.

#include <cstdint>

namespace assay::einsum {

template <typename T>
struct LoopTile {
  const T* x;
  const T* y;  // null: y is 1
  T* c;
  std::int64_t p, h, k, i;      // extents; terms are h × k
  std::int64_t xp, xh, xk;      // strides of x; that of i is 1
  std::int64_t yp, yh, yk, yi;  // yi is 0 or 1; 1 for sums
  std::int64_t cp, ci;          // ci is 0 for sums
  T alpha, beta;
  bool reads;  // c; without, beta is not used
};

// T is float or double. Sums are in the same order whatever the number of threads.
template <typename T>
void run_loop_tile(const LoopTile<T>& tile);

// Bytes of a vector on this machine.
std::int64_t loop_vector_bytes();
// Values of p that are computed together.
inline constexpr std::int64_t kTilePlanes = 4;

}  // namespace assay::einsum
