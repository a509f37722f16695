// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// Contiguous f32 rows of 64 features and outputs have kernels of their own. sum: a warp sums the
// sources of 16 rows, then multiplies the sums by W while other warps wait for memory; x is read
// once for each edge and nothing else but the output is written. max: W is applied to all sources
// first. W is multiplied by three TF32 products (split_product.h has the idea): issued one by one,
// multiply-adds would take a quarter of the time. What they cannot do, infinities, NaN and numbers
// near the end of the range, shows in the outputs, and the row is computed again by the definition.
// (Only sums whose terms are all below 2^-120 may vanish.) Everything else: W by a matmul, then a
// thread for each output.
#include "semiring/cuda/edges.h"

#include <algorithm>
#include <limits>

#include "semiring/cuda/launch.h"
#include "semiring/cuda/ptx.cuh"

namespace assay::semiring::cuda {
namespace {

constexpr int kWidth = 64;          // features and outputs
constexpr int kWarps = 10;          // two blocks of them on a multiprocessor
constexpr int kGatherAtOnce = 16;   // sources that a half warp waits for at once
constexpr int kWarpRows = 16;       // that a warp multiplies at once
constexpr int kPitch = kWidth + 4;  // of a row of sums: neighbouring rows in other banks
constexpr int kWeightUnits = kWidth / 8 * kWidth / 8 * 32;  // of 16 bytes
constexpr int kSumBytes = kWeightUnits * 16 + kWarps * kWarpRows * kPitch * 4;

struct Rows64 {
  const float *v, *x, *w;
  const std::int32_t* idx;
  float* out;
  std::int64_t rows, v_stride, idx_stride, x_stride, out_stride;
  int slots;
};

// Issued where it stands: the compiler would rather wait for each load than keep several under way.
__device__ __forceinline__ float4 load_now(const float4* from, bool is_wanted, float otherwise) {
  float4 x{otherwise, otherwise, otherwise, otherwise};
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %5, 0;\n"
      "@p ld.global.nc.L1::no_allocate.L2::256B.v4.f32 {%0, %1, %2, %3}, [%4];\n}\n"
      : "+f"(x.x), "+f"(x.y), "+f"(x.z), "+f"(x.w)
      : "l"(from), "r"(static_cast<int>(is_wanted)));
  return x;
}

// Slot `part` of up to 16 of a row: its source (−1: absent, of weight 1) and weight. What is read
// or written once leaves the caches first, so that they keep the sources, which others want again.
struct Slot {
  int source;
  float weight;
};
__device__ __forceinline__ Slot slot_of(const Rows64& p, std::int64_t row, bool is_row, int slot) {
  Slot s;
  s.source = is_row && slot < p.slots ? __ldcs(p.idx + row * p.idx_stride + slot) : -1;
  s.weight = s.source >= 0 ? __ldcs(p.v + row * p.v_stride + slot) : 1.0f;
  return s;
}

// f(weight, source's part) for 16 slots of a row, by half a warp whose lanes hold one slot and four
// features each. What is absent has `absent` features: no sum and no maximum changes by them.
template <int kAtOnce, class F>
__device__ __forceinline__ void for_each_source(const Rows64& p, const Slot& mine, int part,
                                                float absent, const F& f) {
#pragma unroll
  for (int begin = 0; begin < 16; begin += kAtOnce) {
    float4 x[kAtOnce];
#pragma unroll
    for (int s = 0; s < kAtOnce; ++s) {
      const int source = __shfl_sync(~0u, mine.source, begin + s, 16);
      x[s] = load_now(reinterpret_cast<const float4*>(p.x + source * p.x_stride) + part,
                      source >= 0, absent);
    }
#pragma unroll
    for (int s = 0; s < kAtOnce; ++s) f(__shfl_sync(~0u, mine.weight, begin + s, 16), x[s]);
  }
}

// A row in the order of the definition, two outputs for each lane.
template <bool kGather>
__device__ __noinline__ void row_by_definition(const Rows64& p, std::int64_t row, int lane) {
  for (int o = lane; o < kWidth; o += 32) {
    const auto product_of = [&](std::int64_t source) {
      float product = 0;
      for (int f = 0; f < kWidth; ++f)
        product = fmaf(p.w[o * kWidth + f], p.x[source * p.x_stride + f], product);
      return product;
    };
    float sum = 0;
    for (int s = 0; kGather && s < p.slots; ++s) {
      const int source = p.idx[row * p.idx_stride + s];
      if (source >= 0) sum = fmaf(p.v[row * p.v_stride + s], product_of(source), sum);
    }
    p.out[row * p.out_stride + o] = kGather ? sum : product_of(row);
  }
}

__device__ __forceinline__ unsigned to_tf32(float x) {
  unsigned r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return r;
}
// D (16×8) += A (16×8) · B (8×8), TF32.
__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0,
                                         unsigned b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// W as the tensor cores take it: for each step of 8 features and tile of 8 outputs a unit for each
// lane, high parts of its two elements and low parts.
__device__ void split_weights(const float* w, uint4* units) {
  for (int i = threadIdx.x; i < kWeightUnits; i += blockDim.x) {
    const int lane = i % 32, tile = i / 32 % 8, step = i / 256;
    const float* from = w + (8 * tile + lane / 4) * kWidth + 8 * step + lane % 4;
    const unsigned first = to_tf32(from[0]), second = to_tf32(from[4]);
    units[i] = {first, second, to_tf32(from[0] - __uint_as_float(first)),
                to_tf32(from[4] - __uint_as_float(second))};
  }
}

// kGather: out = W Σ v·x. Otherwise out = W x, row by row.
template <bool kGather>
__global__ void __launch_bounds__(32 * kWarps, 2) weights_kernel(Rows64 p, std::int64_t blocks) {
  extern __shared__ __align__(16) float shared[];
  uint4* weights = reinterpret_cast<uint4*>(shared);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float* sums = shared + kWeightUnits * 4 + warp * kWarpRows * kPitch;
  split_weights(p.w, weights);
  __syncthreads();
  const int part = lane % 16, half = lane / 16;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kWarps;
  const std::int64_t first_block = static_cast<std::int64_t>(blockIdx.x) * kWarps + warp;
  float4 ahead[kWarpRows / 2];  // without kGather: the rows of the next block
  const auto load_rows = [&](std::int64_t block) {
#pragma unroll
    for (int i = 0; i < kWarpRows / 2; ++i) {
      const std::int64_t row = block * kWarpRows + 2 * i + half;
      ahead[i] =
          load_now(reinterpret_cast<const float4*>(p.x + row * p.x_stride) + part, row < p.rows, 0);
    }
  };
  if constexpr (!kGather) load_rows(first_block);
  for (std::int64_t block = first_block; block < blocks; block += stride) {
    const std::int64_t first = block * kWarpRows;
    if constexpr (!kGather) {
#pragma unroll
      for (int i = 0; i < kWarpRows / 2; ++i)
        *reinterpret_cast<float4*>(sums + (2 * i + half) * kPitch + part * 4) = ahead[i];
      load_rows(block + stride);  // before this block is multiplied
    }
    // A row's slots are fetched before the row before is summed, so that only sources are waited
    // for.
    Slot next = kGather ? slot_of(p, first + half, first + half < p.rows, part) : Slot{};
#pragma unroll 1
    for (int r = half; kGather && r < kWarpRows; r += 2) {
      const bool is_row = first + r < p.rows;
      float4 sum{0, 0, 0, 0};
      const auto add = [&](float w, const float4& x) {
        sum.x = fmaf(w, x.x, sum.x);
        sum.y = fmaf(w, x.y, sum.y);
        sum.z = fmaf(w, x.z, sum.z);
        sum.w = fmaf(w, x.w, sum.w);
      };
      const Slot mine = next;
      next = slot_of(p, first + r + 2, r + 2 < kWarpRows && first + r + 2 < p.rows, part);
      for_each_source<kGatherAtOnce>(p, mine, part, 0, add);
      for (int begin = 16; begin < p.slots; begin += 16)
        for_each_source<kGatherAtOnce>(p, slot_of(p, first + r, is_row, begin + part), part, 0,
                                       add);
      *reinterpret_cast<float4*>(sums + r * kPitch + part * 4) = sum;
    }
    __syncwarp();
    // Entry c of tile j: row lane/4 (+ 8 for c ≥ 2), output 8j + 2(lane%4) + c%2.
    float acc[8][4] = {};
    const float* mine = sums + lane / 4 * kPitch + lane % 4;
#pragma unroll 2
    for (int step = 0; step < 8; ++step) {
      unsigned high[4], low[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float x = mine[i % 2 * 8 * kPitch + 8 * step + i / 2 * 4];
        high[i] = to_tf32(x);
        low[i] = to_tf32(x - __uint_as_float(high[i]));
      }
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const uint4 w = weights[(step * 8 + j) * 32 + lane];
        multiply(acc[j], high, w.z, w.w);
        multiply(acc[j], low, w.x, w.y);
        multiply(acc[j], high, w.x, w.y);
      }
    }
    unsigned suspects = 0;  // rows to be computed again
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int r = lane / 4 + 8 * h;
      bool is_good = true;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          const float size = fabsf(acc[j][2 * h + c]);
          is_good = is_good && size < INFINITY && (size > 0x1p-80f || size == 0);
        }
      }
      if (!is_good) suspects |= 1u << r;
      if (first + r >= p.rows) continue;
      float* to = p.out + (first + r) * p.out_stride + lane % 4 * 2;
      const auto put_row = [](float2* at, float2 x) { kGather ? __stcs(at, x) : void(*at = x); };
#pragma unroll
      for (int j = 0; j < 8; ++j)
        put_row(reinterpret_cast<float2*>(to + 8 * j),
                make_float2(acc[j][2 * h], acc[j][2 * h + 1]));
    }
    suspects = __reduce_or_sync(~0u, suspects);
    for (; suspects != 0; suspects &= suspects - 1) {
      const std::int64_t row = first + __ffs(static_cast<int>(suspects)) - 1;
      if (row < p.rows) row_by_definition<kGather>(p, row, lane);
    }
    __syncwarp();
  }
}

// out = max v·x, x being W x already, by the kernel before: slots are asked for until it is done.
__global__ void __launch_bounds__(256) largest_kernel(Rows64 p) {
  const std::int64_t row = (static_cast<std::int64_t>(blockIdx.x) * 256 + threadIdx.x) / 16;
  const bool is_row = row < p.rows;
  const int part = threadIdx.x % 16;
  Slot mine = slot_of(p, row, is_row, part);
  wait_for_the_kernel_before();
  float4 best{-INFINITY, -INFINITY, -INFINITY, -INFINITY};
  for (int begin = 0; begin < p.slots; begin += 16) {
    if (begin > 0) mine = slot_of(p, row, is_row, begin + part);
    for_each_source<16>(p, mine, part, -INFINITY, [&](float w, const float4& x) {
      best.x = max_or_nan(best.x, w * x.x);
      best.y = max_or_nan(best.y, w * x.y);
      best.z = max_or_nan(best.z, w * x.z);
      best.w = max_or_nan(best.w, w * x.w);
    });
  }
  if (is_row) __stcs(reinterpret_cast<float4*>(p.out + row * p.out_stride) + part, best);
}

// A thread for each output, y = W x of `outputs` numbers a row.
template <typename T>
__global__ void reduce_kernel(Edges e, const T* y) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= e.rows * e.outputs) return;
  const std::int64_t row = at / e.outputs, o = at % e.outputs;
  T result = e.is_max ? -INFINITY : T{0};
  for (std::int64_t s = 0; s < e.slots; ++s) {
    const std::int64_t source = e.idx[row * e.idx_strides.row + s * e.idx_strides.column];
    if (source < 0) continue;
    const T term = static_cast<const T*>(e.v)[row * e.v_strides.row + s * e.v_strides.column] *
                   y[source * e.outputs + o];
    result = e.is_max ? max_or_nan(result, term) : result + term;
  }
  static_cast<T*>(e.out)[row * e.out_strides.row + o * e.out_strides.column] = result;
}

__global__ void __launch_bounds__(256) find_kernel(Edges e, unsigned long long* first) {
  const std::int64_t all = e.rows * e.slots, step = static_cast<std::int64_t>(gridDim.x) * 256;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * 256 + threadIdx.x; at < all;
       at += step) {
    const std::int32_t source =
        e.idx[at / e.slots * e.idx_strides.row + at % e.slots * e.idx_strides.column];
    if (source >= -1 && source < e.sources) continue;
    atomicMin(first, static_cast<unsigned long long>(at));
    return;  // what follows in this thread lies behind
  }
}

bool is_aligned(const void* p, std::int64_t stride) {
  return reinterpret_cast<std::uintptr_t>(p) % 16 == 0 && stride % 4 == 0;
}

bool has_rows_of_64(const Edges& e) {
  return e.scalar == Scalar::kF32 && e.features == kWidth && e.outputs == kWidth &&
         e.v_strides.column == 1 && e.idx_strides.column == 1 && e.x_strides.column == 1 &&
         e.w_strides.column == 1 && e.w_strides.row == kWidth && e.out_strides.column == 1 &&
         is_aligned(e.x, e.x_strides.row) && is_aligned(e.out, e.out_strides.row) &&
         e.slots <= 1 << 20;
}

// y = x·Wᵀ, dense rows.
Matmul weights_product(const Edges& e, void* y) {
  Matmul q;
  q.algebra = Algebra::kReal;
  q.scalar = e.scalar;
  q.m = e.sources, q.k = e.features, q.n = e.outputs;
  q.a = e.x, q.a_strides = e.x_strides;
  q.b = e.w, q.b_strides = {e.w_strides.column, e.w_strides.row};
  q.c = y, q.c_strides = {e.outputs, 1};
  return q;
}

template <bool kGather>
void launch_weights(const Rows64& p, cudaStream_t stream) {
  const auto kernel = weights_kernel<kGather>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             kSumBytes),  // of each device by itself
        "weights_kernel's shared memory");
  const std::int64_t blocks = ceil_div(p.rows, kWarpRows);
  const std::int64_t grid = std::min<std::int64_t>(ceil_div(blocks, kWarps), 132 * 2);
  kernel<<<static_cast<unsigned>(grid), 32 * kWarps, kSumBytes, stream>>>(p, blocks);
  check(cudaGetLastError(), "weights_kernel");
}

template <typename T>
void reduce(const Edges& e, const void* y, cudaStream_t stream) {
  const std::int64_t entries = e.rows * e.outputs;
  reduce_kernel<T><<<static_cast<unsigned>(ceil_div(entries, 256)), 256, 0, stream>>>(
      e, static_cast<const T*>(y));
  check(cudaGetLastError(), "reduce_kernel");
}

std::int64_t transformed_bytes(const Edges& e) {
  return e.sources * e.outputs * (e.scalar == Scalar::kF64 ? 8 : 4);
}

}  // namespace

void find_wrong_index(const Edges& e, std::int64_t* first, Stream stream_handle) {
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  check(cudaMemsetAsync(first, 0xff, sizeof *first, stream), "cudaMemsetAsync");
  const std::int64_t all = e.rows * e.slots;
  if (all == 0) return;
  constexpr std::int64_t kMost = 132 * 8;
  find_kernel<<<static_cast<unsigned>(std::min(ceil_div(all, 256), kMost)), 256, 0, stream>>>(
      e, reinterpret_cast<unsigned long long*>(first));
  check(cudaGetLastError(), "find_kernel");
}

std::size_t workspace_bytes(const Edges& e) {
  Arena arena(nullptr);
  if (has_rows_of_64(e) && !e.is_max) return 0;
  arena.take<char>(transformed_bytes(e));
  if (has_rows_of_64(e)) return arena.used();
  return arena.used() + workspace_bytes(weights_product(e, nullptr));
}

void aggregate_edges(const Edges& e, void* workspace, Stream stream_handle) {
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  if (e.rows == 0 || e.outputs == 0) return;
  Arena arena(workspace);
  if (!has_rows_of_64(e)) {
    void* y = arena.take<char>(transformed_bytes(e));
    matmul(weights_product(e, y), static_cast<char*>(workspace) + arena.used(), stream_handle);
    return e.scalar == Scalar::kF64 ? reduce<double>(e, y, stream) : reduce<float>(e, y, stream);
  }
  Rows64 p{static_cast<const float*>(e.v),
           static_cast<const float*>(e.x),
           static_cast<const float*>(e.w),
           e.idx,
           static_cast<float*>(e.out),
           e.rows,
           e.v_strides.row,
           e.idx_strides.row,
           e.x_strides.row,
           e.out_strides.row,
           static_cast<int>(e.slots)};
  if (!e.is_max) return launch_weights<true>(p, stream);
  Rows64 transform = p;
  transform.rows = e.sources;
  transform.out = arena.take<float>(e.sources * kWidth);
  transform.out_stride = kWidth;
  launch_weights<false>(transform, stream);
  p.x = transform.out;
  p.x_stride = kWidth;
  launch_kernel(largest_kernel, dim3(static_cast<unsigned>(ceil_div(p.rows, 16))), 256, 0, stream,
                true, p);
}

}  // namespace assay::semiring::cuda
