// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include "transport/cuda/combine.h"
#include "transport/cuda/launch.h"

namespace assay::transport::cuda {
namespace {

constexpr int kRows = 32, kWarps = 16;

// 32 rows of a matrix for a block of threads, a lane for each row, so that what a group of outputs
// reads is in the first-level cache for the next; a warp takes one group of outputs after another.
template <bool kTurned>
__global__ void __launch_bounds__(32 * kWarps)
    combine(ScaledTerms at, double factor, int rows, Matrices in, Matrices out) {
  __shared__ double turning[kTurned ? kWarps : 1][kRows][kTogether + 1];
  const auto& terms = at.terms;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int first = static_cast<int>(blockIdx.x) * kRows, i = static_cast<int>(blockIdx.y);
  const int r = first + lane;
  const double* x = in.data + i * in.step + min(r, rows - 1);
  double* const to = out.data + i * out.step;
  const std::int64_t ld = in.ld;
  for (int group = warp; group < terms.groups; group += kWarps) {
    double sum[kTogether] = {};
    const int shared_end = terms.shared_begin[group + 1], own_end = terms.own_begin[group + 1];
#pragma unroll 4
    for (int s = terms.shared_begin[group]; s < shared_end; ++s) {
      const double value = x[terms.shared_source[s] * ld];
      const auto* weight = reinterpret_cast<const double2*>(terms.shared_weight + s * kTogether);
#pragma unroll
      for (int o = 0; o < kTogether / 2; ++o) {
        const double2 w = __ldg(weight + o);
        sum[2 * o] += w.x * value;
        sum[2 * o + 1] += w.y * value;
      }
    }
#pragma unroll 2
    for (int s = terms.own_begin[group]; s < own_end; ++s) {
      const auto* weight = reinterpret_cast<const double2*>(terms.own_weight + s * kTogether);
      const auto* source = reinterpret_cast<const int4*>(terms.own_source + s * kTogether);
#pragma unroll
      for (int o = 0; o < kTogether / 4; ++o) {
        const int4 from = __ldg(source + o);
        const double2 w = __ldg(weight + 2 * o), v = __ldg(weight + 2 * o + 1);
        sum[4 * o] += w.x * x[from.x * ld];
        sum[4 * o + 1] += w.y * x[from.y * ld];
        sum[4 * o + 2] += v.x * x[from.z * ld];
        sum[4 * o + 3] += v.y * x[from.w * ld];
      }
    }
    const int place = group * kTogether;
#pragma unroll
    for (int o = 0; o < kTogether; ++o) {
      const double g = terms.g_value[place + o] * x[terms.g_source[place + o] * ld];
      sum[o] = factor * at.scale * (sum[o] + at.shift * g);
    }
    if constexpr (kTurned) {
      auto& tile = turning[warp];
#pragma unroll
      for (int o = 0; o < kTogether; ++o) tile[lane][o] = sum[o];
      __syncwarp();
      const int o = lane % kTogether, column = terms.output[place + o];
#pragma unroll
      for (int part = 0; part < kRows; part += 32 / kTogether) {
        const int row = part + lane / kTogether;
        if (column >= 0 && first + row < rows) {
          to[column + static_cast<std::int64_t>(first + row) * out.ld] = tile[row][o];
        }
      }
      __syncwarp();
    } else {
#pragma unroll
      for (int o = 0; o < kTogether; ++o) {
        const int column = terms.output[place + o];
        if (column >= 0 && r < rows) to[r + static_cast<std::int64_t>(column) * out.ld] = sum[o];
      }
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
  const dim3 grid(blocks(rows, kRows), blocks(in.count, 1));
  launch(turned ? combine<true> : combine<false>, grid, 32 * kWarps, 0, stream, terms, factor, rows,
         in, out);
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
