// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "semiring/cuda/compare_product.h"
#include "semiring/cuda/ptx.cuh"

namespace assay::semiring::cuda {
namespace {

constexpr int kStageTerms = 32;

// Panels of `width` rows, [batch][panel][term][width], terms padded to whole stages with −∞.
struct Panels {
  int batches, width, panels, terms;
  float* data;
  int* largest;  // [batch][panel]: the largest number as an integer that orders alike
};

// Orders all floats but NaN like integers; NaN is the largest.
__device__ __forceinline__ int ordered(float x) {
  if (x != x) return 0x7fffffff;
  const int bits = __float_as_int(x);
  return bits >= 0 ? bits : bits ^ 0x7fffffff;
}
__device__ __forceinline__ float from_ordered(int bits) {
  return __int_as_float(bits >= 0 ? bits : bits ^ 0x7fffffff);
}

struct PanelPair {
  Factor<float> a, b;
  Panels pa, pb;
  int is_min;
};

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

// Tile of kM×kN entries, kRows×kColumns for each thread, in groups of four that lie apart so that
// the threads of a warp read neighbouring numbers; kBlocks of them on a multiprocessor.
template <int kRows, int kColumns, int kThreadRows, int kThreadColumns, int kStages, int kBlocks,
          int kUnroll>
struct Shape {
  static constexpr int kM = kRows * kThreadRows, kN = kColumns * kThreadColumns;
  static constexpr int kThreads = kThreadRows * kThreadColumns;
  static constexpr int kStageFloats = kStageTerms * (kM + kN);
  static constexpr int kBytes = kStages * kStageFloats * 4;
};

struct CompareArguments {
  Panels a, b;
  Result<float> c;
  int m, n, is_min;
  int* flags;
};

template <bool kNegative>
__device__ __forceinline__ int best_of(int best, float x, float y) {
  const int i = __float_as_int(x), j = __float_as_int(y);
  return kNegative ? __vimin3_s32(best, i, j) : __vimax3_s32(best, i, j);
}

template <int kRows, int kColumns, int kThreadRows, int kThreadColumns, int kStages, int kBlocks,
          int kUnroll>
__global__ void __launch_bounds__(kThreadRows* kThreadColumns, kBlocks)
    compare_kernel(const CompareArguments p) {
#if __CUDA_ARCH__ >= 900
  after_the_kernel_before();
  using S = Shape<kRows, kColumns, kThreadRows, kThreadColumns, kStages, kBlocks, kUnroll>;
  extern __shared__ __align__(128) float shared[];
  __shared__ std::uint64_t full[kStages];
  const int tiles_m = p.a.panels;
  // Neighbouring blocks share columns.
  const int tile_m = blockIdx.x % tiles_m, tile_n = blockIdx.x / tiles_m, batch = blockIdx.y;
  const int stages = p.a.terms / kStageTerms;
  const std::int64_t a_panel =
      static_cast<std::int64_t>(p.a.batches == 1 ? 0 : batch) * p.a.panels + tile_m;
  const std::int64_t b_panel =
      static_cast<std::int64_t>(p.b.batches == 1 ? 0 : batch) * p.b.panels + tile_n;
  const float* a = p.a.data + a_panel * p.a.terms * S::kM;
  const float* b = p.b.data + b_panel * p.b.terms * S::kN;
  const auto fetch = [&](int stage) {
    float* to = shared + stage % kStages * S::kStageFloats;
    std::uint64_t* barrier = &full[stage % kStages];
    barrier_expect(barrier, S::kStageFloats * 4);
    bulk_copy(to, a + static_cast<std::int64_t>(stage) * kStageTerms * S::kM,
              kStageTerms * S::kM * 4, barrier);
    bulk_copy(to + kStageTerms * S::kM, b + static_cast<std::int64_t>(stage) * kStageTerms * S::kN,
              kStageTerms * S::kN * 4, barrier);
  };
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) barrier_init(&full[s], 1);
    barrier_init_fence();
    for (int s = 0; s < kStages - 1 && s < stages; ++s) fetch(s);
  }
  // A warp's lanes: 4 rows of threads by 8 columns.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  constexpr int kWarpColumns = kThreadColumns / 8;
  const int tx = lane % 8 + 8 * (warp % kWarpColumns), ty = lane / 8 + 4 * (warp / kWarpColumns);
  const bool is_negative =
      from_ordered(p.a.largest[a_panel]) + from_ordered(p.b.largest[b_panel]) < 0;
  int best[kRows][kColumns];
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
      best[i][j] = is_negative ? static_cast<int>(0xff800000) : static_cast<int>(0x80000000);
  }
  const auto reduce = [&](auto negative) {
    constexpr bool kNegative = decltype(negative)::value;
    for (int stage = 0; stage < stages; ++stage) {
      // Everyone is done with the stage that is fetched into. (Warps that may drift apart, each
      // stage with a barrier of its own, were 3 % slower.)
      __syncthreads();
      if (threadIdx.x == 0 && stage + kStages - 1 < stages) fetch(stage + kStages - 1);
      barrier_wait(&full[stage % kStages], stage / kStages % 2);
      const float* left = shared + stage % kStages * S::kStageFloats + ty * 4;
      const float* right =
          shared + stage % kStages * S::kStageFloats + kStageTerms * S::kM + tx * 4;
#pragma unroll kUnroll
      for (int t = 0; t < kStageTerms; t += 2) {
        float x[2][kRows], y[2][kColumns];
#pragma unroll
        for (int l = 0; l < 2; ++l) {
#pragma unroll
          for (int i = 0; i < kRows; i += 4)
            *reinterpret_cast<float4*>(&x[l][i]) = *reinterpret_cast<const float4*>(
                left + (t + l) * S::kM + i / 4 * (4 * kThreadRows));
#pragma unroll
          for (int j = 0; j < kColumns; j += 4)
            *reinterpret_cast<float4*>(&y[l][j]) = *reinterpret_cast<const float4*>(
                right + (t + l) * S::kN + j / 4 * (4 * kThreadColumns));
        }
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
#pragma unroll
          for (int j = 0; j < kColumns; ++j)
            best[i][j] = best_of<kNegative>(best[i][j], x[0][i] + y[0][j], x[1][i] + y[1][j]);
        }
      }
    }
  };
  if (is_negative) {
    reduce(std::true_type{});
  } else {
    reduce(std::false_type{});
  }
  float* c = p.c.data + batch * p.c.batch_stride;
  const bool in_fours = p.c.column_stride == 1 && p.c.row_stride % 4 == 0 &&
                        p.c.batch_stride % 4 == 0 &&
                        reinterpret_cast<std::uintptr_t>(p.c.data) % 16 == 0;
  bool is_refused = false;
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int row = tile_m * S::kM + i / 4 * (4 * kThreadRows) + ty * 4 + i % 4;
    if (row >= p.m) continue;
#pragma unroll
    for (int j = 0; j < kColumns; j += 4) {
      const int column = tile_n * S::kN + j / 4 * (4 * kThreadColumns) + tx * 4;
      float out[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        is_refused = is_refused || (!is_negative && best[i][j + e] < 0 && column + e < p.n);
        out[e] = __int_as_float(best[i][j + e] ^ (p.is_min ? 0x80000000 : 0));
      }
      float* to = c + row * p.c.row_stride + column * p.c.column_stride;
      if (in_fours && column + 3 < p.n) {
        *reinterpret_cast<float4*>(to) = {out[0], out[1], out[2], out[3]};
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          if (column + e < p.n) to[e * p.c.column_stride] = out[e];
      }
    }
  }
  if (is_refused) {
    p.flags[(static_cast<std::int64_t>(batch) * tiles_m + tile_m) * p.b.panels + tile_n] = 1;
    p.flags[static_cast<std::int64_t>(gridDim.y) * tiles_m * p.b.panels] = 1;  // any
  }
#endif
}

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

template <int kRows, int kColumns, int kThreadRows, int kThreadColumns, int kStages, int kBlocks,
          int kUnroll>
void launch(const CompareProduct& q, Arena& arena, unsigned long long* refused,
            cudaStream_t stream) {
  using S = Shape<kRows, kColumns, kThreadRows, kThreadColumns, kStages, kBlocks, kUnroll>;
  CompareArguments p;
  p.a = plan_panels(arena, q.a, q.batches, S::kM);
  p.b = plan_panels(arena, q.b, q.batches, S::kN);
  p.c = q.c;
  p.m = q.m, p.n = q.n, p.is_min = q.is_min;
  const std::int64_t tiles = static_cast<std::int64_t>(q.batches) * p.a.panels * p.b.panels;
  const std::int64_t a_panels = static_cast<std::int64_t>(p.a.batches) * p.a.panels;
  const std::int64_t b_panels = static_cast<std::int64_t>(p.b.batches) * p.b.panels;
  p.a.largest = arena.take<int>(a_panels + b_panels + tiles + 1);
  p.b.largest = p.a.largest + a_panels;
  p.flags = p.b.largest + b_panels;
  if (arena.counts_only()) return;
  // Any byte ≥ 0x80 makes a number below all; a flag is set if it is 1.
  check(cudaMemsetAsync(p.a.largest, 0x80,
                        4 * static_cast<std::size_t>(a_panels + b_panels + tiles + 1), stream),
        "cudaMemsetAsync");
  const int term_blocks = static_cast<int>(ceil_div(p.a.terms, kPackedTerms));
  const int split = static_cast<int>(a_panels) * (S::kM / kPackedRows) * term_blocks;
  const int grid = split + static_cast<int>(b_panels) * (S::kN / kPackedRows) * term_blocks;
  panel_kernel<<<grid, 256, 0, stream>>>({q.a, q.b, p.a, p.b, q.is_min}, split);
  check(cudaGetLastError(), "panel_kernel");
  const auto kernel =
      compare_kernel<kRows, kColumns, kThreadRows, kThreadColumns, kStages, kBlocks, kUnroll>;
  static const cudaError_t allowed =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::kBytes);
  check(allowed, "compare_kernel's shared memory");
  const dim3 blocks(static_cast<unsigned>(p.a.panels * p.b.panels),
                    static_cast<unsigned>(q.batches));
  launch_kernel(kernel, blocks, S::kThreads, S::kBytes, stream, false, p);
  PlainProduct<float> plain{q.is_min ? Algebra::kMinPlus : Algebra::kMaxPlus,
                            q.batches,
                            q.m,
                            q.n,
                            q.k,
                            q.a,
                            q.b,
                            q.c,
                            {}};
  plain.chosen = {p.flags, 1, S::kM, S::kN, refused, false, p.flags + tiles};
  plain_product(plain, stream);
}

}  // namespace

void compare_product(const CompareProduct& q, Arena& arena, unsigned long long* refused,
                     cudaStream_t stream) {
  const std::int64_t large_tiles = ceil_div(q.m, 256) * ceil_div(q.n, 128) * q.batches;
  if (large_tiles >= 100) {
    launch<8, 8, 32, 16, 4, 1, 8>(q, arena, refused, stream);
  } else if (ceil_div(q.m, 64) * ceil_div(q.n, 64) * q.batches >= 200) {
    launch<4, 8, 16, 8, 4, 1, 2>(q, arena, refused, stream);
  } else {
    launch<4, 4, 8, 16, 4, 1, 2>(q, arena, refused, stream);
  }
}

}  // namespace assay::semiring::cuda
