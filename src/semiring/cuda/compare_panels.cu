// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/cuda/compare_panels.cuh"

#include "semiring/cuda/ptx.cuh"

namespace assay::semiring::cuda {
namespace {

constexpr int kPackedRows = 32, kPackedTerms = 128;  // by one block of threads

// Panels are written along their rows; where terms are contiguous they are read along terms, and
// shared memory turns them: element (r, t) at [t][r ^ (4·(t/4 % 8))], never two in a bank.
__global__ void __launch_bounds__(256) panel_kernel(PanelPair pair, int split) {
  after_the_kernel_before();
  __shared__ __align__(16) float tile[kPackedTerms][kPackedRows];
  const bool is_a = static_cast<int>(blockIdx.x) < split;
  const Factor<float>& f = is_a ? pair.a : pair.b;
  const Panels& panels = is_a ? pair.pa : pair.pb;
  int index = static_cast<int>(blockIdx.x) - (is_a ? 0 : split);
  const int term_blocks = (panels.terms + kPackedTerms - 1) / kPackedTerms;
  const int row_blocks = panels.panels * panels.width / kPackedRows;
  const int begin = index % term_blocks * kPackedTerms;
  index /= term_blocks;
  const int first = index % row_blocks * kPackedRows, batch = index / row_blocks;
  const float* data = f.data + batch * f.batch_stride;
  const bool is_whole = first + kPackedRows <= f.rows && begin + kPackedTerms <= f.terms &&
                        f.batch_stride % 4 == 0 &&
                        reinterpret_cast<std::uintptr_t>(f.data) % 16 == 0;
  const bool along_terms = is_whole && f.term_stride == 1 && f.row_stride % 4 == 0;
  const bool along_rows = is_whole && f.row_stride == 1 && f.term_stride % 4 == 0;
  constexpr int kLoads = kPackedRows * kPackedTerms / 4 / 256;
  const unsigned sign = pair.is_min ? 0x80000000u : 0u;
  float4 x[kLoads];
  // As they are written: rows (threadIdx % 8)·4, term threadIdx/8 + 32·i.
  const int row = threadIdx.x % 8 * 4, term = threadIdx.x / 8;
  if (along_rows) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      x[i] = *reinterpret_cast<const float4*>(data + first + row +
                                              (begin + term + 32 * i) * f.term_stride);
  } else {
    if (along_terms) {
#pragma unroll
      for (int i = 0; i < kLoads; ++i)
        x[i] = *reinterpret_cast<const float4*>(data + (first + threadIdx.x / 8) * f.row_stride +
                                                begin + 32 * i + threadIdx.x % 8 * 4);
#pragma unroll
      for (int i = 0; i < kLoads; ++i) {
        const int t = 32 * i + threadIdx.x % 8 * 4, r = threadIdx.x / 8 ^ (threadIdx.x % 8 * 4);
        tile[t][r] = x[i].x, tile[t + 1][r] = x[i].y, tile[t + 2][r] = x[i].z,
        tile[t + 3][r] = x[i].w;
      }
    } else {
      const bool terms_first = llabs(f.term_stride) <= llabs(f.row_stride);
#pragma unroll 8
      for (int at = threadIdx.x; at < kPackedRows * kPackedTerms; at += 256) {
        const int r = terms_first ? at / kPackedTerms : at % kPackedRows;
        const int t = terms_first ? at % kPackedTerms : at / kPackedRows;
        const bool is_inside = first + r < f.rows && begin + t < f.terms;
        // Absent: −∞, also after the sign is changed.
        tile[t][r ^ (t / 4 % 8 * 4)] =
            is_inside ? data[(first + r) * f.row_stride + (begin + t) * f.term_stride]
                      : __uint_as_float(0xff800000u ^ sign);
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int t = term + 32 * i;
      x[i] = *reinterpret_cast<const float4*>(&tile[t][row ^ (t / 4 % 8 * 4)]);
    }
  }
  const int panel = first / panels.width;
  float* out =
      panels.data +
      (static_cast<std::int64_t>(batch) * panels.panels + panel) * panels.terms * panels.width +
      first % panels.width + row;
  int largest = static_cast<int>(0x80808080);
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const auto change = [&](float y) { return __uint_as_float(__float_as_uint(y) ^ sign); };
    x[i] = {change(x[i].x), change(x[i].y), change(x[i].z), change(x[i].w)};
    largest = max(max(largest, max(ordered(x[i].x), ordered(x[i].y))),
                  max(ordered(x[i].z), ordered(x[i].w)));
    const int t = begin + term + 32 * i;
    if (t < panels.terms)
      *reinterpret_cast<float4*>(out + static_cast<std::int64_t>(t) * panels.width) = x[i];
  }
  __shared__ int of_warps[8];
  largest = __reduce_max_sync(~0u, largest);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = largest;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (const int other : of_warps) largest = max(largest, other);
  int* known = &panels.largest[batch * panels.panels + panel];
  // It only grows: who has nothing to add need not wait in line.
  if (largest > *static_cast<volatile int*>(known)) atomicMax(known, largest);
}

}  // namespace

Panels plan_panels(Arena& arena, const Factor<float>& f, int batches, int width) {
  Panels p;
  p.batches = f.batch_stride == 0 ? 1 : batches;
  p.width = width;
  p.panels = static_cast<int>(ceil_div(f.rows, width));
  p.terms = static_cast<int>(ceil_div(f.terms, kStageTerms) * kStageTerms);
  p.data = arena.take<float>(static_cast<std::int64_t>(p.batches) * p.panels * p.terms * width);
  p.largest = nullptr;
  return p;
}

void pack_panels(const PanelPair& pair, cudaStream_t stream) {
  const int term_blocks = static_cast<int>(ceil_div(pair.pa.terms, kPackedTerms));
  const auto blocks_of = [&](const Panels& p) {
    return p.batches * p.panels * (p.width / kPackedRows) * term_blocks;
  };
  const int split = blocks_of(pair.pa);
  panel_kernel<<<static_cast<unsigned>(split + blocks_of(pair.pb)), 256, 0, stream>>>(pair, split);
  check(cudaGetLastError(), "panel_kernel");
}

}  // namespace assay::semiring::cuda
