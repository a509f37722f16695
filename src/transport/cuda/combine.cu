// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <algorithm>

#include "transport/cuda/combine.h"
#include "transport/cuda/launch.h"

namespace assay::transport::cuda {
namespace {

// What each output of a group gets from its line: rows are lanes, `x` the row of each source.
__device__ void sum_group(const DeviceLines& lines, int group, const double* x, int step,
                          double (&sum)[kTogether]) {
  const int end = lines.begin[group + 1];
#pragma unroll
  for (int o = 0; o < kTogether; ++o) sum[o] = 0;
#pragma unroll 2
  for (int s = lines.begin[group]; s < end; ++s) {
    const double value = x[lines.source[s] * step];
    const auto* weight = reinterpret_cast<const double2*>(lines.weight + s * kWeights);
#pragma unroll
    for (int o = 0; o < kTogether; o += 2) {
      const double2 w = __ldg(weight + o / 2);
      sum[o] += w.x * value;
      if (o + 1 < kTogether) sum[o + 1] += w.y * value;
    }
  }
}

// A block of threads takes kRows rows of a matrix: all of their inputs into shared memory, then the
// sums along one angle, then those along the other, then the rows of the result. A warp takes
// 32/kRows groups of outputs at a time.
template <int kRows>
__global__ void __launch_bounds__(1024)
    combine(ScaledTerms at, double factor, int rows, Matrices in, bool turned, Matrices out) {
  extern __shared__ double memory[];
  constexpr int kGap = kRows + 1;  // so that neither way of reading meets itself in one bank
  const auto& terms = at.terms;
  double* const input = memory;
  double* const result = memory + static_cast<std::int64_t>(kRows) * terms.inputs;
  const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int row = t % kRows, team = t / kRows, teams = threads / kRows;
  const int first = static_cast<int>(blockIdx.x) * kRows, i = static_cast<int>(blockIdx.y);
  const double* const from = in.data + i * in.step + min(first + row, rows - 1);
  for (int c = team; c < terms.inputs; c += teams) {
    input[c * kRows + row] = __ldcs(from + static_cast<std::int64_t>(c) * in.ld);
  }
  __syncthreads();
  double sum[kTogether];
  for (int group = team; group < terms.second.groups; group += teams) {
    sum_group(terms.second, group, input + row, kRows, sum);
#pragma unroll
    for (int o = 0; o < kTogether; ++o) {
      const int output = terms.second.output[group * kTogether + o];
      if (output >= 0) result[output * kGap + row] = sum[o];
    }
  }
  __syncthreads();
  const double scale = factor * at.scale;
  for (int group = team; group < terms.first.groups; group += teams) {
    sum_group(terms.first, group, input + row, kRows, sum);
#pragma unroll
    for (int o = 0; o < kTogether; ++o) {
      const int output = terms.first.output[group * kTogether + o];
      if (output < 0) continue;
      const double g = terms.g_value[output] * input[terms.g_source[output] * kRows + row];
      double& to = result[output * kGap + row];
      to = scale * (to + sum[o] + at.shift * g);
    }
  }
  __syncthreads();
  double* const to = out.data + i * out.step;
  if (turned) {
    for (int r = t / 32; r < kRows && first + r < rows; r += threads / 32) {
      for (int o = t % 32; o < terms.outputs; o += 32) {
        to[o + static_cast<std::int64_t>(first + r) * out.ld] = result[o * kGap + r];
      }
    }
  } else if (first + row < rows) {
    for (int o = team; o < terms.outputs; o += teams) {
      to[first + row + static_cast<std::int64_t>(o) * out.ld] = result[o * kGap + row];
    }
  }
}

template <int kRows>
void launch_combine(const ScaledTerms& terms, double factor, int rows, const Matrices& in,
                    bool turned, const Matrices& out, kernels::cuda::Stream stream) {
  const auto bytes = sizeof(double) * (static_cast<std::size_t>(kRows) *
                                           static_cast<std::size_t>(terms.terms.inputs) +
                                       (kRows + 1) * static_cast<std::size_t>(terms.terms.outputs));
  if constexpr (kRows > 1) {
    if (bytes > most_shared_bytes()) {
      return launch_combine<kRows / 2>(terms, factor, rows, in, turned, out, stream);
    }
  }
  // As many teams as take the groups in the fewest turns.
  const int groups = std::max(terms.terms.first.groups, terms.terms.second.groups);
  const int most = 1024 / kRows, turns = (groups + most - 1) / most;
  const int warps = ((groups + turns - 1) / turns * kRows + 31) / 32;
  launch(combine<kRows>, dim3(blocks(rows, kRows), blocks(in.count, 1)),
         static_cast<unsigned>(32 * std::max(warps, 4)), bytes, stream, terms, factor, rows, in,
         turned, out);
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
  launch_combine<16>(terms, factor, rows, in, turned, out, stream);
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
