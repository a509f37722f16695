// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include "transport/cuda/combine.h"
#include "transport/cuda/launch.h"

namespace assay::transport::cuda {
namespace {

// c += a b: 8×4 by 4×8. A lane has a(lane/4, lane%4), b(lane%4, lane/4) and c(lane/4, 2(lane%4)),
// c(lane/4, 2(lane%4) + 1).
__device__ void multiply_add(double2& c, double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(c.x), "+d"(c.y)
               : "d"(a), "d"(b));
}

// A block of threads takes kRows rows of a matrix: all of their inputs into shared memory, then the
// sums along one angle, then those along the other, a group of outputs for each warp, then the rows
// of the result.
template <int kRows>
struct Tile {
  static constexpr int kParts = kRows / 8;
  // Numbers of a column: four columns are read in two turns, and results along either way in one.
  static constexpr int kInput = kRows == 8 ? 8 : kRows + 8, kResult = kRows + 1;

  static std::size_t bytes(const DeviceTerms& terms) {
    return sizeof(double) *
           (static_cast<std::size_t>(kInput) * static_cast<std::size_t>(terms.inputs) +
            static_cast<std::size_t>(kResult) * static_cast<std::size_t>(terms.outputs));
  }

  // What the outputs of a group get from their line: rows lane/4, outputs 2(lane%4) and the next.
  static __device__ void sum_group(const DeviceLines& lines, int group, const double* input,
                                   double2 (&sum)[kParts]) {
    const int lane = static_cast<int>(threadIdx.x) % 32, end = lines.begin[group + 1];
#pragma unroll
    for (int part = 0; part < kParts; ++part) sum[part] = {0, 0};
    // Everything that comes from far is asked for at once.
    constexpr int kAhead = 8;
    for (int first = lines.begin[group]; first < end; first += kAhead) {
      double weight[kAhead];
      int source[kAhead];
#pragma unroll
      for (int ahead = 0; ahead < kAhead; ++ahead) {
        const int tile = min(first + ahead, end - 1);
        weight[ahead] = __ldg(lines.weight + tile * 32 + lane);
        source[ahead] = __ldg(lines.source + tile * kSources + lane % 4);
      }
#pragma unroll
      for (int ahead = 0; ahead < kAhead; ++ahead) {
        if (first + ahead >= end) break;
        const double* x = input + source[ahead] * kInput + lane / 4;
#pragma unroll
        for (int part = 0; part < kParts; ++part) {
          multiply_add(sum[part], x[8 * part], weight[ahead]);
        }
      }
    }
  }
};

template <int kRows>
__global__ void __launch_bounds__(1024)
    combine(ScaledTerms at, double factor, int rows, Matrices in, bool turned, Matrices out) {
  extern __shared__ double memory[];
  using T = Tile<kRows>;
  const auto& terms = at.terms;
  double* const input = memory;
  double* const result = memory + static_cast<std::int64_t>(T::kInput) * terms.inputs;
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  const int row = t % kRows, team = t / kRows, warps = static_cast<int>(blockDim.x) / 32;
  const int teams = static_cast<int>(blockDim.x) / kRows;
  const int first = static_cast<int>(blockIdx.x) * kRows, i = static_cast<int>(blockIdx.y);
  const double* const from = in.data + i * in.step + min(first + row, rows - 1);
#pragma unroll 8
  for (int c = team; c < terms.inputs; c += teams) {
    input[c * T::kInput + row] = __ldcs(from + static_cast<std::int64_t>(c) * in.ld);
  }
  __syncthreads();
  double2 sum[T::kParts];
  for (int group = warp; group < terms.second.groups; group += warps) {
    T::sum_group(terms.second, group, input, sum);
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      const int output = terms.second.output[group * kTogether + 2 * (lane % 4) + side];
      if (output < 0) continue;
#pragma unroll
      for (int part = 0; part < T::kParts; ++part) {
        result[output * T::kResult + 8 * part + lane / 4] = side == 0 ? sum[part].x : sum[part].y;
      }
    }
  }
  __syncthreads();
  const double scale = factor * at.scale;
  for (int group = warp; group < terms.first.groups; group += warps) {
    T::sum_group(terms.first, group, input, sum);
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      const int output = terms.first.output[group * kTogether + 2 * (lane % 4) + side];
      if (output < 0) continue;
      const double g = at.shift * terms.g_value[output];
      const double* const x = input + terms.g_source[output] * T::kInput;
#pragma unroll
      for (int part = 0; part < T::kParts; ++part) {
        const int r = 8 * part + lane / 4;
        double& to = result[output * T::kResult + r];
        to = scale * (to + (side == 0 ? sum[part].x : sum[part].y) + g * x[r]);
      }
    }
  }
  __syncthreads();
  double* const to = out.data + i * out.step;
  if (turned) {
    for (int r = warp; r < kRows && first + r < rows; r += warps) {
      for (int o = lane; o < terms.outputs; o += 32) {
        to[o + static_cast<std::int64_t>(first + r) * out.ld] = result[o * T::kResult + r];
      }
    }
  } else if (first + row < rows) {
    for (int o = team; o < terms.outputs; o += teams) {
      to[first + row + static_cast<std::int64_t>(o) * out.ld] = result[o * T::kResult + row];
    }
  }
}

__global__ void __launch_bounds__(256)
    add_diagonal(DiagonalEntries entries, double collisions, DeviceCases cases, bool transposed,
                 Matrices out) {
  const int i = static_cast<int>(blockIdx.y);
  const int at = static_cast<int>(blockIdx.x) * 256 + static_cast<int>(threadIdx.x);
  if (at >= entries.count) return;
  int r = entries.row[at], c = entries.column[at];
  const double value =
      cases.epsi_hat[i] * entries.value[at] + (r == c ? collisions * cases.nu_hat[i] : 0.0);
  if (transposed) {
    const int x = r;
    r = c;
    c = x;
  }
  out.data[i * out.step + r + static_cast<std::int64_t>(c) * out.ld] += value;
}

__global__ void __launch_bounds__(256) pin(bool transposed, Matrices out) {
  const int at = static_cast<int>(blockIdx.x) * 256 + static_cast<int>(threadIdx.x);
  if (at >= out.n) return;
  out.data[static_cast<int>(blockIdx.y) * out.step +
           at * static_cast<std::int64_t>(transposed ? 1 : out.ld)] = at == 0 ? 1.0 : 0.0;
}

}  // namespace

void combine_columns(const ScaledTerms& terms, double factor, int rows, const Matrices& in,
                     bool turned, const Matrices& out, kernels::cuda::Stream stream) {
  if (rows == 0 || in.count == 0) return;
  const bool fits = Tile<16>::bytes(terms.terms) <= most_shared_bytes();
  const auto bytes = fits ? Tile<16>::bytes(terms.terms) : Tile<8>::bytes(terms.terms);
  launch(fits ? combine<16> : combine<8>, dim3(blocks(rows, fits ? 16 : 8), blocks(in.count, 1)),
         1024, bytes, stream, terms, factor, rows, in, turned, out);
}

void add_diagonal_block(const DiagonalEntries& entries, double collisions, const DeviceCases& cases,
                        bool transposed, const Matrices& out, kernels::cuda::Stream stream) {
  if (entries.count == 0 || cases.count == 0) return;
  launch(add_diagonal, dim3(blocks(entries.count, 256), blocks(cases.count, 1)), 256, 0, stream,
         entries, collisions, cases, transposed, out);
}

void pin_first_row(bool transposed, const Matrices& out, kernels::cuda::Stream stream) {
  if (out.n == 0 || out.count == 0) return;
  launch(pin, dim3(blocks(out.n, 256), blocks(out.count, 1)), 256, 0, stream, transposed, out);
}

void fill_zero(const Matrices& out, kernels::cuda::Stream stream) {
  const auto bytes = static_cast<std::size_t>(out.step) * static_cast<std::size_t>(out.count) * 8;
  kernels::cuda::check(cudaMemsetAsync(out.data, 0, bytes, static_cast<cudaStream_t>(stream)),
                       "filling device memory");
}

}  // namespace assay::transport::cuda
