// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/cuda/permute_squares.h"

#include <cuda_runtime.h>

#include "einsum/cuda/launch.h"

namespace assay::einsum::cuda {
namespace {

constexpr int kThreadsOfTurn = 1 << PermuteTurns::kThreadBits;

template <typename Bits>
struct alignas(16) TurnedRow {
  static constexpr int kSide = 16 / sizeof(Bits);
  Bits x[kSide];
};

// Numbers of 8 bytes: whole sectors are read and written by the lanes that have neighbours.
__global__ void __launch_bounds__(kThreadsOfTurn)
    turn_eights(const PermuteTurns t, const std::uint64_t* a, std::uint64_t* c) {
  using Row = TurnedRow<std::uint64_t>;
  constexpr int kTurns = 2;
  const TurnPlace at = place_of(t, static_cast<std::int32_t>(blockIdx.x), threadIdx.x);
  if (at.p >= t.p_squares) return;
  const int lanes = t.q_lanes();
  Row rows[kTurns][Row::kSide];
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) {
    const int q = at.q + turn * lanes;
    if (q >= t.q_squares) break;
    const std::uint64_t* const from = a + at.a + at.p * Row::kSide + t.a_along_q(q);
#pragma unroll
    for (int i = 0; i < Row::kSide; ++i) {
      rows[turn][i] = *reinterpret_cast<const Row*>(from + i * t.a_q);
    }
  }
  std::uint64_t* const to = c + at.c + at.q * Row::kSide + t.c_along_p(at.p);
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) {
    if (at.q + turn * lanes >= t.q_squares) break;
#pragma unroll
    for (int j = 0; j < Row::kSide; ++j) {
      Row turned;
#pragma unroll
      for (int i = 0; i < Row::kSide; ++i) turned.x[i] = rows[turn][i].x[j];
      *reinterpret_cast<Row*>(to + turn * lanes * Row::kSide + j * t.c_p) = turned;
    }
  }
}

// Numbers of 4 bytes: squares are turned in registers and change hands through the block's memory,
// so that a row of the block's is read, and one is written, by lanes that follow each other.
__global__ void __launch_bounds__(kThreadsOfTurn)
    turn_fours(const PermuteTurns t, const std::uint32_t* a, std::uint32_t* c) {
  using Row = TurnedRow<std::uint32_t>;
  constexpr int kSide = Row::kSide;
  __shared__ Row turned[kThreadsOfTurn * kSide];
  const TurnPlace corner = place_of(t, static_cast<std::int32_t>(blockIdx.x), 0);
  const int thread = static_cast<int>(threadIdx.x), q_lanes = t.q_lanes();
  // Row `r` of the block's copy, its squares rotated so that lanes below each other have banks of
  // their own.
  const auto place = [&](int r, int q) { return r * q_lanes + ((q + r / kSide) & (q_lanes - 1)); };
  {
    const int p = thread & ((1 << t.p_bits) - 1), q = thread >> t.p_bits;
    if (corner.p + p < t.p_squares && corner.q + q < t.q_squares) {
      const std::uint32_t* const from =
          a + corner.a + (corner.p + p) * kSide + t.a_along_q(corner.q + q);
      Row rows[kSide];
#pragma unroll
      for (int i = 0; i < kSide; ++i) rows[i] = *reinterpret_cast<const Row*>(from + i * t.a_q);
#pragma unroll
      for (int j = 0; j < kSide; ++j) {
        Row row;
#pragma unroll
        for (int i = 0; i < kSide; ++i) row.x[i] = rows[i].x[j];
        turned[place(p * kSide + j, q)] = row;
      }
    }
  }
  __syncthreads();
  const int q = thread & (q_lanes - 1), first = thread >> (PermuteTurns::kThreadBits - t.p_bits);
  if (corner.q + q >= t.q_squares) return;
#pragma unroll
  for (int i = 0; i < kSide; ++i) {
    const int r = first + (i << t.p_bits);
    const int p = corner.p + r / kSide;
    if (p >= t.p_squares) return;
    *reinterpret_cast<Row*>(c + corner.c + (corner.q + q) * kSide + t.c_along_p(p) +
                            r % kSide * t.c_p) = turned[place(r, q)];
  }
}

}  // namespace

void turn_squares(const PermuteTurns& turns, std::size_t element_size, const void* a, void* c,
                  kernels::cuda::Stream stream) {
  const auto blocks = static_cast<unsigned>(turns.blocks);
  if (element_size == 4) {
    launch(turn_fours, blocks, kThreadsOfTurn, 0, stream, turns,
           static_cast<const std::uint32_t*>(a), static_cast<std::uint32_t*>(c));
  } else {
    launch(turn_eights, blocks, kThreadsOfTurn, 0, stream, turns,
           static_cast<const std::uint64_t*>(a), static_cast<std::uint64_t*>(c));
  }
}

}  // namespace assay::einsum::cuda
