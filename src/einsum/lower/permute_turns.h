// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A permuting copy that turns its fastest index, cut into squares for a GPU's threads.
//
// Where the source lies along p and the copy along q, a thread takes a square of as many rows of p
// as sixteen bytes have numbers and turns it in its registers. The lanes of a warp have
// neighbouring squares both ways; what is written are rows of q. A loop that follows p in the
// source without a gap, or q in the copy, makes the run of squares longer: short loops would leave
// lanes without any.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "einsum/labels/loop.h"

namespace assay::einsum {

// Plain arrays, since a kernel takes it by value.
struct PermuteTurns {
  static constexpr int kMaxAxes = 24;
  static constexpr int kThreadBits = 8, kWarpBits = 5;  // of a block of threads, of a warp
  int side = 1;                                         // of a square: numbers in sixteen bytes
  int turns = 1;                                        // squares of a thread, along q
  // Strides in elements: of q in the source and of p in the copy, and of the loops that follow.
  std::int64_t a_q = 0, c_p = 0, a_after_q = 0, c_after_p = 0;
  std::int32_t p_squares = 0, q_squares = 0;  // of the runs
  std::int32_t p_inner = 1, q_inner = 1;      // of p and q themselves
  int p_bits = 0;  // log2 of the threads of a block along p; the others are along q
  // Blocks of threads, the fastest of the copy first; p and q are among them.
  int axes = 0, p_axis = 0, q_axis = 0;
  std::int32_t count[kMaxAxes] = {};
  std::int64_t a[kMaxAxes] = {}, c[kMaxAxes] = {};  // from one block to the next
  std::int32_t blocks = 1;

  constexpr int q_lanes() const { return 1 << (kThreadBits - p_bits); }
  // Where the square of a run's number begins in the tensor that does not lie along it.
  constexpr std::int64_t a_along_q(std::int32_t q) const {
    const std::int32_t after = q / q_inner;
    return (q - after * q_inner) * side * a_q + after * a_after_q;
  }
  constexpr std::int64_t c_along_p(std::int32_t p) const {
    const std::int32_t after = p / p_inner;
    return (p - after * p_inner) * side * c_p + after * c_after_p;
  }
};

// The first square of a thread by its number along p and q, and where in either tensor the square
// would be that has the numbers 0.
struct TurnPlace {
  std::int64_t a = 0, c = 0;
  std::int32_t p = 0, q = 0;
};
constexpr TurnPlace place_of(const PermuteTurns& t, std::int32_t block, int thread) {
  TurnPlace at;
  std::int32_t rest = block;
  for (int l = 0; l < t.axes; ++l) {
    const std::int32_t next = rest / t.count[l], x = rest - next * t.count[l];
    rest = next;
    at.a += x * t.a[l];
    at.c += x * t.c[l];
    if (l == t.p_axis) at.p = x << t.p_bits;
    if (l == t.q_axis) at.q = x * t.q_lanes() * t.turns;
  }
  // A warp has eight lanes along p, fewer where the block has.
  const int warp_p = t.p_bits < 3 ? t.p_bits : 3, warp_q = PermuteTurns::kWarpBits - warp_p;
  const int warp = thread >> PermuteTurns::kWarpBits, warps_p = t.p_bits - warp_p;
  const int p = (thread & ((1 << warp_p) - 1)) | ((warp & ((1 << warps_p) - 1)) << warp_p);
  const int q = ((thread >> warp_p) & ((1 << warp_q) - 1)) | ((warp >> warps_p) << warp_q);
  at.p += p;
  at.q += q;
  return at;
}

// Loops with their strides a and c, fused. Nothing where the copy does not turn its fastest index,
// a square would not begin on a boundary of sixteen bytes (both tensors do), runs are so short that
// three of four lanes would have nothing.
std::optional<PermuteTurns> permute_turns(std::span<const Loop> loops, std::size_t element_size);

}  // namespace assay::einsum
