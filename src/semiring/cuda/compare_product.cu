// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// A block of threads for each tile of the result, as many as the device runs at a time, round after
// round. The tiles of a last round that would leave multiprocessors idle are cut along k, and all
// blocks take an equal share of their stages; the last block that comes to a tile puts its parts
// together. A maximum is the same in any order.
#include <algorithm>
#include <type_traits>

#include "semiring/cuda/compare_panels.cuh"
#include "semiring/cuda/compare_product.h"
#include "semiring/cuda/ptx.cuh"

namespace assay::semiring::cuda {
namespace {

// Tile of kM×kN entries, kRows×kColumns for each thread, in groups of four that lie apart so that
// the threads of a warp read neighbouring numbers.
template <int kRows, int kColumns, int kThreadRows, int kThreadColumns, int kUnroll>
struct Shape {
  static constexpr int kStages = 4;
  static constexpr int kM = kRows * kThreadRows, kN = kColumns * kThreadColumns;
  static constexpr int kThreads = kThreadRows * kThreadColumns;
  static constexpr int kStageFloats = kStageTerms * (kM + kN);
  static constexpr int kBytes = kStages * kStageFloats * 4;
};

// What the bytes of a memset of 0x80 make of an integer: below every number that is compared, and
// no flag.
constexpr int kUntouched = static_cast<int>(0x80808080);

// How tiles are dealt out to blocks of threads.
struct Deal {
  int blocks = 0, stages = 0;
  int whole = 0;           // tiles that are taken whole: a round of the blocks, or several
  std::int64_t units = 0;  // stages of the others, all together; 0: there is a block for each tile
};
// The stages [begin, end) of a tile.
struct Segment {
  int tile, begin, end;
};
__host__ __device__ inline std::int64_t first_unit(const Deal& d, int block) {
  return d.units * block / d.blocks;
}
// Number n of a block's segments; of tiles that are cut it has at most two.
__host__ __device__ inline bool segment_of(const Deal& d, int block, int n, Segment& s) {
  if (d.units == 0) {  // a tile for each block, without a division
    s = {block, 0, d.stages};
    return n == 0;
  }
  const int rounds = (d.whole - block + d.blocks - 1) / d.blocks;
  if (n < rounds) {
    s = {n * d.blocks + block, 0, d.stages};
    return true;
  }
  const std::int64_t from = first_unit(d, block), to = first_unit(d, block + 1);
  const std::int64_t tile = from / d.stages + (n - rounds), begin = tile * d.stages;
  s.tile = d.whole + static_cast<int>(tile);
  s.begin = static_cast<int>((from > begin ? from : begin) - begin);
  s.end = static_cast<int>((to < begin + d.stages ? to : begin + d.stages) - begin);
  return s.begin < s.end;
}
// The block that has a unit.
__host__ __device__ inline int owner_of(const Deal& d, std::int64_t unit) {
  return static_cast<int>(((unit + 1) * d.blocks + d.units - 1) / d.units) - 1;
}

struct CompareArguments {
  Panels a, b;
  Result<float> c;
  int m, n, is_min;
  int* flags;
  Deal deal;
  int* arrived;  // for each tile that is cut: its parts that are there, from kUntouched on
  int4* parts;   // [block][first or second][numbers of a thread / 4][thread]
};

template <bool kNegative>
__device__ __forceinline__ int best_of(int best, float x, float y) {
  const int i = __float_as_int(x), j = __float_as_int(y);
  return kNegative ? __vimin3_s32(best, i, j) : __vimax3_s32(best, i, j);
}

// Whether this block is the last that comes to its tile; then `best` has the parts of all of them.
template <int kThreads, int kRows, int kColumns>
__device__ __forceinline__ bool put_together(const CompareArguments& p, int of_tile,
                                             bool is_negative, int (&best)[kRows][kColumns]) {
  __shared__ int is_last;
  constexpr int kUnits = kRows * kColumns / 4;
  const Deal& d = p.deal;
  const int tile = of_tile - d.whole, me = blockIdx.x;
  const std::int64_t first = static_cast<std::int64_t>(tile) * d.stages;
  const int from = owner_of(d, first), to = owner_of(d, first + d.stages - 1);
  const auto part_of = [&](int block) {
    const int which = first_unit(d, block) / d.stages == tile ? 0 : 1;
    return p.parts + (2 * static_cast<std::int64_t>(block) + which) * kUnits * kThreads +
           threadIdx.x;
  };
  int4* const own = part_of(me);
#pragma unroll
  for (int u = 0; u < kUnits; ++u) {
    const int* x = &best[4 * u / kColumns][4 * u % kColumns];
    __stcg(own + u * kThreads, make_int4(x[0], x[1], x[2], x[3]));
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(p.arrived + tile, 1) == kUntouched + to - from;
  __syncthreads();
  if (is_last == 0) return false;
  __threadfence();
  for (int block = from; block <= to; ++block) {
    if (block == me) continue;
    const int4* const part = part_of(block);
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      int* x = &best[4 * u / kColumns][4 * u % kColumns];
      const int4 other = __ldcg(part + u * kThreads);
      const auto merge = [&](int& to_here, int y) {
        to_here = is_negative ? min(to_here, y) : max(to_here, y);
      };
      merge(x[0], other.x), merge(x[1], other.y), merge(x[2], other.z), merge(x[3], other.w);
    }
  }
  return true;
}

// Without kCut there is a block for each tile.
template <int kRows, int kColumns, int kThreadRows, int kThreadColumns, int kUnroll, bool kCut>
__global__ void __launch_bounds__(kThreadRows* kThreadColumns, 1)
    compare_kernel(const CompareArguments p) {
#if __CUDA_ARCH__ >= 900
  after_the_kernel_before();
  using S = Shape<kRows, kColumns, kThreadRows, kThreadColumns, kUnroll>;
  constexpr int kStages = S::kStages;
  extern __shared__ __align__(128) float shared[];
  __shared__ std::uint64_t full[kStages];
  const int block = static_cast<int>(blockIdx.x), tiles_m = p.a.panels, tiles_n = p.b.panels;
  struct Place {
    int batch, m, n;
    std::int64_t a_panel, b_panel;
  };
  const auto place_of = [&](int tile) {
    // Neighbouring blocks share columns.
    Place at;
    at.batch = tile / (tiles_m * tiles_n);
    at.n = tile / tiles_m % tiles_n;
    at.m = tile % tiles_m;
    at.a_panel = static_cast<std::int64_t>(p.a.batches == 1 ? 0 : at.batch) * tiles_m + at.m;
    at.b_panel = static_cast<std::int64_t>(p.b.batches == 1 ? 0 : at.batch) * tiles_n + at.n;
    return at;
  };
  // One thread fetches stages, across the ends of segments. Everybody waits for it before the next
  // stage, and registers are all taken: what a segment needs is made before it begins, and kept
  // here.
  struct alignas(16) Fetched {
    int a_stage, b_stage, stages, tile;  // the first of the segment; stages 0: there is none
  };
  __shared__ Fetched segments[kStages];  // this one and as many as may be fetched from
  __shared__ struct alignas(16) { int a_stage, b_stage, left, segment; } ahead;
  const auto prepare = [&](int n) {
    Segment s;
    Fetched& to = segments[n % kStages];
    to.stages = 0;
    if (!segment_of(p.deal, block, n, s)) return;
    const Place at = place_of(s.tile);
    to = {static_cast<int>(at.a_panel) * p.deal.stages + s.begin,
          static_cast<int>(at.b_panel) * p.deal.stages + s.begin, s.end - s.begin, s.tile};
  };
  const auto fetch = [&](int slot) {
    auto next = ahead;
    if (next.left == 0) {
      const Fetched from = segments[next.segment % kStages];
      if (from.stages == 0) return;
      next = {from.a_stage, from.b_stage, from.stages, next.segment + 1};
    }
    float* to = shared + slot * S::kStageFloats;
    std::uint64_t* barrier = &full[slot];
    barrier_expect(barrier, S::kStageFloats * 4);
    bulk_copy(to, p.a.data + static_cast<std::int64_t>(next.a_stage) * (kStageTerms * S::kM),
              kStageTerms * S::kM * 4, barrier);
    bulk_copy(to + kStageTerms * S::kM,
              p.b.data + static_cast<std::int64_t>(next.b_stage) * (kStageTerms * S::kN),
              kStageTerms * S::kN * 4, barrier);
    ahead = {next.a_stage + 1, next.b_stage + 1, next.left - 1, next.segment};
  };
  if (threadIdx.x == 0) {
    for (int n = 0; n < (kCut ? kStages - 1 : 2); ++n) prepare(n);
    ahead = {0, 0, 0, 0};
    for (int s = 0; s < kStages; ++s) barrier_init(&full[s], 1);
    barrier_init_fence();
    for (int s = 0; s < kStages - 1; ++s) fetch(s);
  }
  // A warp's lanes: 4 rows of threads by 8 columns.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  constexpr int kWarpColumns = kThreadColumns / 8;
  const int tx = lane % 8 + 8 * (warp % kWarpColumns), ty = lane / 8 + 4 * (warp / kWarpColumns);
  int number = 0;  // of stages so far
  for (int n = 0; kCut || n == 0; ++n) {
    __syncthreads();  // everyone is done with the segment before
    if (kCut && threadIdx.x == 0) prepare(n + kStages - 1);
    const Fetched& now = segments[n % kStages];
    if (now.stages == 0) break;
    const auto has_negative = [&] {
      const Place at = place_of(now.tile);
      return from_ordered(p.a.largest[at.a_panel]) + from_ordered(p.b.largest[at.b_panel]) < 0;
    };
    const bool is_negative = has_negative();
    int best[kRows][kColumns];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
        best[i][j] = is_negative ? static_cast<int>(0xff800000) : static_cast<int>(0x80000000);
    }
    const auto reduce = [&](auto negative) {
      constexpr bool kNegative = decltype(negative)::value;
      for (const int end = number + now.stages; number < end; ++number) {
        // Everyone is done with the stage that is fetched into. (Warps that may drift apart, each
        // stage with a barrier of its own, were 3 % slower.)
        __syncthreads();
        if (threadIdx.x == 0) fetch((number + kStages - 1) % kStages);
        barrier_wait(&full[number % kStages], number / kStages % 2);
        const float* left = shared + number % kStages * S::kStageFloats + ty * 4;
        const float* right =
            shared + number % kStages * S::kStageFloats + kStageTerms * S::kM + tx * 4;
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
    if (kCut && now.stages < p.deal.stages &&
        !put_together<S::kThreads>(p, now.tile, is_negative, best)) {
      continue;
    }
    const Place at = place_of(now.tile);
    const bool in_fours = p.c.column_stride == 1 && p.c.row_stride % 4 == 0 &&
                          p.c.batch_stride % 4 == 0 &&
                          reinterpret_cast<std::uintptr_t>(p.c.data) % 16 == 0;
    float* c = p.c.data + at.batch * p.c.batch_stride;
    bool is_refused = false;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const int row = at.m * S::kM + i / 4 * (4 * kThreadRows) + ty * 4 + i % 4;
      if (row >= p.m) continue;
#pragma unroll
      for (int j = 0; j < kColumns; j += 4) {
        const int column = at.n * S::kN + j / 4 * (4 * kThreadColumns) + tx * 4;
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
      p.flags[(static_cast<std::int64_t>(at.batch) * tiles_m + at.m) * tiles_n + at.n] = 1;
      p.flags[(p.deal.whole + p.deal.units / p.deal.stages)] = 1;  // any
    }
  }
#endif
}

// Tiles are cut where that saves more stages than putting them together costs.
Deal deal_of(std::int64_t tiles, int stages, int at_a_time) {
  constexpr int kWorthIt = 4;
  Deal d;
  d.stages = stages;
  d.blocks = static_cast<int>(tiles);
  d.whole = static_cast<int>(tiles);
  if (at_a_time == 0) return d;
  const std::int64_t rest = tiles % at_a_time;
  const std::int64_t saved = stages - ceil_div(rest * stages, at_a_time);
  if (rest == 0 || rest * stages < at_a_time || saved < kWorthIt) return d;
  d.blocks = at_a_time;
  d.whole = static_cast<int>(tiles - rest);
  d.units = rest * stages;
  return d;
}

// `at_a_time`: the number of blocks that the device runs at a time.
template <int kRows, int kColumns, int kThreadRows, int kThreadColumns, int kUnroll, bool kMayCut>
void launch(const CompareProduct& q, int at_a_time, Arena& arena, unsigned long long* refused,
            cudaStream_t stream) {
  using S = Shape<kRows, kColumns, kThreadRows, kThreadColumns, kUnroll>;
  CompareArguments p;
  p.a = plan_panels(arena, q.a, q.batches, S::kM);
  p.b = plan_panels(arena, q.b, q.batches, S::kN);
  p.c = q.c;
  p.m = q.m, p.n = q.n, p.is_min = q.is_min;
  const std::int64_t tiles = static_cast<std::int64_t>(q.batches) * p.a.panels * p.b.panels;
  const std::int64_t a_panels = static_cast<std::int64_t>(p.a.batches) * p.a.panels;
  const std::int64_t b_panels = static_cast<std::int64_t>(p.b.batches) * p.b.panels;
  p.deal = deal_of(tiles, p.a.terms / kStageTerms, kMayCut ? at_a_time : 0);
  const std::int64_t cut = tiles - p.deal.whole, counters = a_panels + b_panels + tiles + 1 + cut;
  p.a.largest = arena.take<int>(counters);
  p.b.largest = p.a.largest + a_panels;
  p.flags = p.b.largest + b_panels;
  p.arrived = p.flags + tiles + 1;
  p.parts = arena.take<int4>(cut == 0 ? 0 : std::int64_t{2} * p.deal.blocks * S::kM * S::kN / 4);
  if (arena.counts_only()) return;
  check(cudaMemsetAsync(p.a.largest, 0x80, 4 * static_cast<std::size_t>(counters), stream),
        "cudaMemsetAsync");
  pack_panels({q.a, q.b, p.a, p.b, q.is_min}, stream);
  const auto whole = compare_kernel<kRows, kColumns, kThreadRows, kThreadColumns, kUnroll, false>;
  const auto cuts = compare_kernel<kRows, kColumns, kThreadRows, kThreadColumns, kUnroll, kMayCut>;
  const auto kernel = cut == 0 ? whole : cuts;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::kBytes),
        "compare_kernel's shared memory");
  launch_kernel(kernel, dim3(static_cast<unsigned>(p.deal.blocks)), S::kThreads, S::kBytes, stream,
                false, p);
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

void compare_product(const CompareProduct& q, int multiprocessors, Arena& arena,
                     unsigned long long* refused, cudaStream_t stream) {
  const std::int64_t large_tiles = ceil_div(q.m, 256) * ceil_div(q.n, 128) * q.batches;
  if (large_tiles >= 100) {
    launch<8, 8, 32, 16, 8, true>(q, multiprocessors, arena, refused, stream);  // one on each
  } else if (ceil_div(q.m, 64) * ceil_div(q.n, 64) * q.batches >= 200) {
    launch<4, 8, 16, 8, 2, false>(q, 0, arena, refused, stream);
  } else {
    launch<4, 4, 8, 16, 2, false>(q, 0, arena, refused, stream);
  }
}

}  // namespace assay::semiring::cuda
