// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "transport/cuda/combine.h"
#include "transport/cuda/launch.h"
#include "transport/cuda/mma.cuh"

namespace assay::transport::cuda {
namespace {

constexpr int kHalfRows = 16;   // of the tensor cores
constexpr int kMostWarps = 13;  // two turns for 25 lines

// What the outputs of a bundle get from their line, kHalves times sixteen rows: sources stand at
// x[·ld], and eight rows further down where there are such (`last`: the last row's distance).
template <int kHalves>
__device__ void sum_bundle(const DeviceLines& lines, int bundle, const double* x, int last, int ld,
                           Sums (&sums)[kHalves][kBundled]) {
  const int lane = static_cast<int>(threadIdx.x) % 32, begin = lines.begin[bundle];
  const int tiles = lines.begin[bundle + 1] - begin;
  const int groups = lines.group[bundle + 1] - lines.group[bundle];
  const double* const weights = lines.weight + lines.weights[bundle] * 32 + lane;
  struct Tile {
    double rows[2 * kHalves], weight[kBundled];
  };
  constexpr int kListed = 32 / kSources;  // tiles whose sources are asked for at once
  for (int listed = 0; listed < tiles; listed += kListed) {
    const int here = min(kListed, tiles - listed);
    const int source =
        __ldg(lines.source + (begin + listed) * kSources + min(lane, here * kSources - 1));
    const auto ask = [&](int tile, Tile& to) {
      const double* const column = x + ld * static_cast<std::int64_t>(__shfl_sync(
                                                ~0u, source, tile * kSources + lane % kSources));
#pragma unroll
      for (int h = 0; h < 2 * kHalves; ++h) to.rows[h] = column[min(8 * h, last)];
#pragma unroll
      for (int g = 0; g < kBundled; ++g) {
        to.weight[g] = g < groups ? __ldg(weights + ((listed + tile) * groups + g) * 32) : 0.0;
      }
    };
    const auto use = [&](const Tile& from) {
#pragma unroll
      for (int g = 0; g < kBundled; ++g) {
#pragma unroll
        for (int h = 0; h < kHalves; ++h) {
          multiply_add(sums[h][g], from.rows[2 * h], from.rows[2 * h + 1], from.weight[g]);
        }
      }
    };
    // One is on its way while another is added up.
    Tile even, odd;
    ask(0, even);
#pragma unroll 1
    for (int t = 0; t < here; t += 2) {
      if (t + 1 < here) ask(t + 1, odd);
      use(even);
      if (t + 1 >= here) break;
      if (t + 2 < here) ask(t + 2, even);
      use(odd);
    }
  }
}

// Numbers of shared memory that a block of threads takes for each output, and for each input where
// those have room, too: four sources by four rows in sixteen places.
constexpr int result_pitch(int halves) { return halves * kHalfRows + 1; }
constexpr int input_pitch(int halves) { return halves * kHalfRows + 4; }

// A block of threads takes some rows of a matrix: the sums along one angle into shared memory, then
// those along the other, a bundle for each warp, then the rows of the result. The inputs are copied
// to shared memory first (`kCopied`), or come from the caches the second time.
template <int kHalves, bool kCopied>
__global__ void __launch_bounds__(32 * kMostWarps)
    combine(ScaledTerms at, double factor, int rows, Matrices in, bool turned, Matrices out) {
  extern __shared__ double result[];
  constexpr int kRows = kHalves * kHalfRows, kPitch = result_pitch(kHalves);
  const auto& terms = at.terms;
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  const int warps = static_cast<int>(blockDim.x) / 32, i = static_cast<int>(blockIdx.y);
  const int first = static_cast<int>(blockIdx.x) * kRows, own_row = lane / 4;
  const double* x = in.data + i * in.step;
  int ld = in.ld, last = kRows;
  if constexpr (kCopied) {
    double* const copied = result + terms.outputs * kPitch;
    ld = input_pitch(kHalves);
    for (int n = t; n < terms.inputs * kRows; n += static_cast<int>(blockDim.x)) {
      const int r = n % kRows, c = n / kRows;
      __pipeline_memcpy_async(copied + c * ld + r,
                              x + min(first + r, rows - 1) + static_cast<std::int64_t>(c) * in.ld,
                              sizeof(double));
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    x = copied + own_row;
  } else {
    const int from_row = min(first + own_row, rows - 1);
    last = rows - 1 - from_row;
    x += from_row;
  }
  // use(output, row, sum)
  const auto for_each_sum = [&](const DeviceLines& lines, const auto& use) {
    for (int bundle = warp; bundle < lines.bundles; bundle += warps) {
      Sums sums[kHalves][kBundled];
      sum_bundle<kHalves>(lines, bundle, x, last, ld, sums);
      const int group = lines.group[bundle], groups = lines.group[bundle + 1] - group;
#pragma unroll
      for (int g = 0; g < kBundled; ++g) {
        if (g >= groups) break;
        const std::int32_t* const to = lines.output + (group + g) * kTogether + 2 * (lane % 4);
#pragma unroll
        for (int h = 0; h < kHalves; ++h) {
          const Sums& sum = sums[h][g];
          if (to[0] >= 0) use(to[0], 2 * h, sum.top.x), use(to[0], 2 * h + 1, sum.bottom.x);
          if (to[1] >= 0) use(to[1], 2 * h, sum.top.y), use(to[1], 2 * h + 1, sum.bottom.y);
        }
      }
    }
  };
  for_each_sum(terms.second, [&](int output, int eighth, double sum) {
    result[output * kPitch + own_row + 8 * eighth] = sum;
  });
  __syncthreads();
  const double scale = factor * at.scale;
  for_each_sum(terms.first, [&](int output, int eighth, double sum) {
    double& to = result[output * kPitch + own_row + 8 * eighth];
    const double g = at.shift * terms.g_value[output];
    const double* const column = x + terms.g_source[output] * static_cast<std::int64_t>(ld);
    to = scale * (to + sum + g * column[min(8 * eighth, last)]);
  });
  __syncthreads();
  double* const to = out.data + i * out.step;
  if (turned) {
    for (int r = warp; r < kRows && first + r < rows; r += warps) {
      for (int o = lane; o < terms.outputs; o += 32) {
        to[o + static_cast<std::int64_t>(first + r) * out.ld] = result[o * kPitch + r];
      }
    }
    return;
  }
  const int row = t % kRows, teams = static_cast<int>(blockDim.x) / kRows;
  if (first + row >= rows || t / kRows >= teams) return;
  for (int o = t / kRows; o < terms.outputs; o += teams) {
    to[first + row + static_cast<std::int64_t>(o) * out.ld] = result[o * kPitch + row];
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
  const auto bytes = [&](int halves, bool copied) {
    const int numbers = terms.terms.outputs * result_pitch(halves) +
                        (copied ? terms.terms.inputs * input_pitch(halves) : 0);
    return static_cast<std::size_t>(numbers) * sizeof(double);
  };
  const bool copied = bytes(2, true) <= most_shared_bytes();
  const int halves = bytes(2, copied) <= most_shared_bytes() ? 2 : 1;
  // As few warps as take the bundles in as many turns.
  const int bundles = std::max(terms.terms.first.bundles, terms.terms.second.bundles);
  const int turns = (bundles + kMostWarps - 1) / kMostWarps;
  const int warps = (bundles + turns - 1) / turns;
  launch(copied        ? combine<2, true>
         : halves == 2 ? combine<2, false>
                       : combine<1, false>,
         dim3(blocks(rows, halves * kHalfRows), blocks(in.count, 1)),
         static_cast<unsigned>(32 * warps), bytes(halves, copied), stream, terms, factor, rows, in,
         turned, out);
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
