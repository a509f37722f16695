// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_fp16.h>

#include "semiring/cuda/factors.h"
#include "semiring/cuda/ptx.cuh"
#include "semiring/cuda/tf32.cuh"

namespace assay::semiring::cuda {
namespace {

constexpr int kThreads = 256;

// Both factors in one launch: the first `split` blocks of threads belong to A.
struct Pair {
  Factor<float> a, b;
  Packed packed_a, packed_b;
  const float* centre;
};

__device__ __forceinline__ int exponent_of(float x) {  // of a normal number
  return static_cast<int>((__float_as_uint(x) >> 23) & 255) - 127;
}
__device__ __forceinline__ float power_of_two(int e) {  // −126 ≤ e ≤ 127
  return __uint_as_float(static_cast<unsigned>(e + 127) << 23);
}

// ---- Scanning

template <Algebra kAlgebra>
struct RowScan {
  float first, second;

  __device__ RowScan()
      : first(kAlgebra == Algebra::kLog ? -INFINITY : 0.0f),
        second(kAlgebra == Algebra::kReal ? INFINITY : 0.0f) {}
  __device__ void add(float x, float centre) {
    if constexpr (kAlgebra == Algebra::kLog) {
      first = max_or_nan(first, x);
    } else if constexpr (kAlgebra == Algebra::kReal) {
      const float size = fabsf(x);
      first = max_or_nan(first, size);
      second = size > 0 ? fminf(second, size) : second;
    } else {
      const float d = x - centre;
      first = max_or_nan(first, fabsf(d));
      second = fmaf(d, d, second);
    }
  }
  __device__ void join(float other_first, float other_second) {
    first = max_or_nan(first, other_first);
    if constexpr (kAlgebra == Algebra::kReal) second = fminf(second, other_second);
    if constexpr (kAlgebra == Algebra::kEuclidean) second += other_second;
  }
};

// Whether rows, or terms, can be read four at a time.
__device__ __forceinline__ bool in_fours(const Factor<float>& f, std::int64_t contiguous,
                                         std::int64_t other) {
  return contiguous == 1 && other % 4 == 0 && f.batch_stride % 4 == 0 &&
         reinterpret_cast<std::uintptr_t>(f.data) % 16 == 0;
}
__device__ __forceinline__ float part_of(const float4& x, int i) {
  return i == 0 ? x.x : i == 1 ? x.y : i == 2 ? x.z : x.w;
}

template <Algebra kAlgebra, int kChunk>
__global__ void __launch_bounds__(kThreads)
    scan_kernel(Pair pair, int split, int chunks, int* flags, std::int64_t flag_count) {
  after_the_kernel_before();
  for (std::int64_t i = blockIdx.x * kThreads + threadIdx.x; i < flag_count;
       i += static_cast<std::int64_t>(gridDim.x) * kThreads)
    flags[i] = 0;
  const bool is_a = static_cast<int>(blockIdx.x) < split;
  const Factor<float>& f = is_a ? pair.a : pair.b;
  const Packed& packed = is_a ? pair.packed_a : pair.packed_b;
  int index = static_cast<int>(blockIdx.x) - (is_a ? 0 : split);
  const int chunk = index % chunks;
  index /= chunks;
  const int block = index % packed.blocks, batch = index / packed.blocks;
  const int first_row = block * kBlockRows, begin = chunk * kChunk;
  const int end = min(f.terms, begin + kChunk);
  const float* data = f.data + batch * f.batch_stride;
  const float* centre = pair.centre + static_cast<std::int64_t>(batch) * f.terms;
  float2* out = packed.scans + (static_cast<std::int64_t>(batch) * chunks + chunk) * packed.rows() +
                first_row;
  constexpr bool kCentred = kAlgebra == Algebra::kEuclidean;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  constexpr int kWarps = kThreads / 32;

  if (llabs(f.term_stride) <= llabs(f.row_stride)) {  // lanes along the terms, a row for each warp
    constexpr int kLoads = kChunk >= 128 ? kChunk / 128 : 1;
    constexpr int kLanes = kChunk / 4 / kLoads;  // that share a row
    constexpr int kRowsAtOnce = kLanes < 32 ? 32 / kLanes : 1;
    if (in_fours(f, f.term_stride, f.row_stride) && end - begin == kChunk) {
      const int at = lane % kLanes * 4;
#pragma unroll 4
      for (int r = warp * kRowsAtOnce + lane / kLanes; r < kBlockRows; r += kWarps * kRowsAtOnce) {
        RowScan<kAlgebra> scan;
        if (first_row + r < f.rows) {
          const float* from = data + (first_row + r) * f.row_stride + begin + at;
          float4 x[kLoads];
#pragma unroll
          for (int i = 0; i < kLoads; ++i)
            x[i] = *reinterpret_cast<const float4*>(from + i * kLanes * 4);
#pragma unroll
          for (int i = 0; i < 4 * kLoads; ++i)
            scan.add(part_of(x[i / 4], i % 4),
                     kCentred ? centre[begin + at + i / 4 * kLanes * 4 + i % 4] : 0.0f);
        }
#pragma unroll
        for (int step = kLanes / 2; step > 0; step /= 2)
          scan.join(__shfl_xor_sync(~0u, scan.first, step),
                    __shfl_xor_sync(~0u, scan.second, step));
        if (lane % kLanes == 0) out[r] = {scan.first, scan.second};
      }
      return;
    }
    for (int r = warp; r < kBlockRows; r += kWarps) {
      RowScan<kAlgebra> scan;
      if (first_row + r < f.rows) {
        const float* from = data + (first_row + r) * f.row_stride;
        for (int t = begin + lane; t < end; t += 32)
          scan.add(from[t * f.term_stride], kCentred ? centre[t] : 0.0f);
      }
#pragma unroll
      for (int step = 16; step > 0; step /= 2)
        scan.join(__shfl_xor_sync(~0u, scan.first, step), __shfl_xor_sync(~0u, scan.second, step));
      if (lane == 0) out[r] = {scan.first, scan.second};
    }
    return;
  }
  // Lanes along the rows, four for each; a share of the terms for each warp.
  __shared__ float2 shares[kWarps][kBlockRows];
  RowScan<kAlgebra> scan[4];
  const int row = first_row + 4 * lane;
  const int from_term = begin + warp * (kChunk / kWarps);
  const int to = min(end, from_term + kChunk / kWarps);
  if (in_fours(f, f.row_stride, f.term_stride) && row + 4 <= f.rows) {
#pragma unroll 8
    for (int t = from_term; t < to; ++t) {
      const float4 x = *reinterpret_cast<const float4*>(data + row + t * f.term_stride);
#pragma unroll
      for (int i = 0; i < 4; ++i) scan[i].add(part_of(x, i), kCentred ? centre[t] : 0.0f);
    }
  } else {
#pragma unroll 4
    for (int t = from_term; t < to; ++t) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (row + i < f.rows)
          scan[i].add(data[(row + i) * f.row_stride + t * f.term_stride],
                      kCentred ? centre[t] : 0.0f);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) shares[warp][4 * lane + i] = {scan[i].first, scan[i].second};
  __syncthreads();
  if (threadIdx.x < kBlockRows) {
    RowScan<kAlgebra> whole;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) whole.join(shares[w][threadIdx.x].x, shares[w][threadIdx.x].y);
    out[threadIdx.x] = {whole.first, whole.second};
  }
}

// A warp for each term, a lane for each sample.
__global__ void centre_kernel(Factor<float> a, Factor<float> b, int batches, float* centre) {
  after_the_kernel_before();
  constexpr int kSamples = 32;
  const std::int64_t item = (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (item >= static_cast<std::int64_t>(batches) * a.terms) return;
  const int batch = static_cast<int>(item / a.terms), term = static_cast<int>(item % a.terms);
  const int rows = min(kSamples, a.rows), columns = min(kSamples, b.rows);
  float sum = 0;
  if (lane < rows)
    sum += a.data[batch * a.batch_stride +
                  static_cast<std::int64_t>(lane) * a.rows / rows * a.row_stride +
                  term * a.term_stride];
  if (lane < columns)
    sum += b.data[batch * b.batch_stride +
                  static_cast<std::int64_t>(lane) * b.rows / columns * b.row_stride +
                  term * b.term_stride];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  const float mean = sum / static_cast<float>(rows + columns);
  if (lane == 0) centre[item] = isfinite(mean) ? mean : 0.0f;
}

// ---- Packing

struct RowScale {
  float shift = 0, factor = 1, value = 0;
  int exponent = 0;
  bool fits = true;
};

// `first` and `second` are those of scan_rows, joined over the chunks.
template <Algebra kAlgebra, Parts kParts>
__device__ RowScale scale_of(float first, float second) {
  constexpr int kLeast = -100;  // no row of denormal numbers
  RowScale s;
  if constexpr (kAlgebra == Algebra::kLog) {
    s.value = first;
    s.shift = isfinite(first) ? first : 0.0f;
    s.exponent = kParts == Parts::kHalf ? -15 : 0;
    s.factor = power_of_two(-s.exponent);
    return s;
  } else {
    const bool is_finite = first < INFINITY;
    const bool is_normal = is_finite && first > power_of_two(kLeast);
    if (kAlgebra == Algebra::kEuclidean) s.value = second;
    if constexpr (kParts == Parts::kTf32) {
      // Neither products nor their low parts leave the range of normal numbers.
      s.fits = first == 0 || (first < power_of_two(50) && second > power_of_two(-50));
      return s;
    }
    if (is_normal) {
      s.exponent = exponent_of(first) - 14;
      s.factor = power_of_two(-s.exponent);
    }
    if (kAlgebra == Algebra::kReal)
      s.fits = first == 0 || (is_normal && second > power_of_two(-126) &&
                              exponent_of(first) - exponent_of(second) <= 27);
    return s;
  }
}

// Splits kUnit numbers of one row into 16 bytes of high and of low parts.
template <Parts kParts, int kUnit>
__device__ __forceinline__ void split_into(const float (&y)[kUnit], unsigned char* to) {
  uint4 high, low;
  if constexpr (kParts == Parts::kHalf) {
    __half2* h = reinterpret_cast<__half2*>(&high);
    __half2* l = reinterpret_cast<__half2*>(&low);
#pragma unroll
    for (int e = 0; e < kUnit; e += 2) {
      h[e / 2] = __floats2half2_rn(y[e], y[e + 1]);
      const float2 back = __half22float2(h[e / 2]);
      l[e / 2] = __floats2half2_rn((y[e] - back.x) * 2048, (y[e + 1] - back.y) * 2048);
    }
  } else {
    float* h = reinterpret_cast<float*>(&high);
    float* l = reinterpret_cast<float*>(&low);
#pragma unroll
    for (int e = 0; e < kUnit; ++e) {
      h[e] = to_tf32(y[e]);
      l[e] = to_tf32((y[e] - h[e]) * 2048);
    }
  }
  *reinterpret_cast<uint4*>(to) = high;
  *reinterpret_cast<uint4*>(to + kPartBytes) = low;
}

// kScans: the blocks of a cluster have the terms of the same rows, a chunk each, and scan them
// first; also clears the flags. Otherwise does nothing where `wanted` holds 0.
template <Algebra kAlgebra, Parts kParts, bool kScans>
__global__ void __launch_bounds__(kThreads)
    pack_kernel(Pair pair, int split, int chunks, const int* wanted, int* flags,
                std::int64_t flag_count) {
  after_the_kernel_before();
  if constexpr (kScans) {
    for (std::int64_t i = blockIdx.x * kThreads + threadIdx.x; i < flag_count;
         i += static_cast<std::int64_t>(gridDim.x) * kThreads)
      flags[i] = 0;
  } else {
    if (wanted != nullptr && *wanted == 0) return;
  }
  constexpr int kTerms = terms_of(kParts);
  constexpr int kUnit = kTerms / 8;  // terms in 16 bytes
  // Element (r, t) at [t][r ^ (4·unit)]: written along rows, read along units, never two in a bank.
  __shared__ __align__(16) float tile[kTerms][kBlockRows];
  __shared__ float shifts[kBlockRows], factors[kBlockRows];
  __shared__ int fits;
  const bool is_a = static_cast<int>(blockIdx.x) < split;
  const Factor<float>& f = is_a ? pair.a : pair.b;
  const Packed& packed = is_a ? pair.packed_a : pair.packed_b;
  int index = static_cast<int>(blockIdx.x) - (is_a ? 0 : split);
  const int term_block = index % packed.term_blocks;
  index /= packed.term_blocks;
  const int block = index % packed.blocks, batch = index / packed.blocks;
  const int first_row = block * kBlockRows, begin = term_block * kTerms;
  const float* data = f.data + batch * f.batch_stride;
  const bool is_whole = first_row + kBlockRows <= f.rows && begin + kTerms <= f.terms;
  const bool along_terms = is_whole && in_fours(f, f.term_stride, f.row_stride);
  constexpr int kItems = kBlockRows * 8 / kThreads;  // units for each thread
  constexpr int kLoads = kBlockRows * kTerms / 4 / kThreads;

  // Loads first: they take longest.
  float4 x[kLoads];
  if (along_terms) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int at = i * kThreads + threadIdx.x, r = at / 8, t = at % 8 * kUnit;
#pragma unroll
      for (int e = 0; e < kUnit / 4; ++e)
        x[i * (kUnit / 4) + e] = *reinterpret_cast<const float4*>(
            data + (first_row + r) * f.row_stride + begin + t + 4 * e);
    }
  } else if (is_whole && in_fours(f, f.row_stride, f.term_stride)) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int at = i * kThreads + threadIdx.x, r = at % 32 * 4, t = at / 32;
      x[i] = *reinterpret_cast<const float4*>(data + first_row + r + (begin + t) * f.term_stride);
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int at = i * kThreads + threadIdx.x, r = at % 32 * 4, t = at / 32;
      *reinterpret_cast<float4*>(&tile[t][r ^ (t / kUnit * 4)]) = x[i];
    }
  } else {
    const bool terms_first = llabs(f.term_stride) <= llabs(f.row_stride);
#pragma unroll 8
    for (int at = threadIdx.x; at < kBlockRows * kTerms; at += kThreads) {
      const int r = terms_first ? at / kTerms : at % kBlockRows;
      const int t = terms_first ? at % kTerms : at / kBlockRows;
      const bool is_inside = first_row + r < f.rows && begin + t < f.terms;
      tile[t][r ^ (t / kUnit * 4)] =
          is_inside ? data[(first_row + r) * f.row_stride + (begin + t) * f.term_stride] : 0.0f;
    }
  }
  if (threadIdx.x == 0) fits = 1;
  __syncthreads();
  float2* const scans =
      packed.scans + static_cast<std::int64_t>(batch) * chunks * packed.rows() + first_row;
  __shared__ float2 halves[kScans ? 2 : 1][kScans ? kBlockRows : 1];
  __shared__ float2 scanned[kScans ? kBlockRows : 1];
  if constexpr (kScans) {
    if (along_terms) {
#pragma unroll
      for (int i = 0; i < kItems; ++i) {
        RowScan<kAlgebra> scan;
#pragma unroll
        for (int e = 0; e < kUnit; ++e) scan.add(part_of(x[i * (kUnit / 4) + e / 4], e % 4), 0.0f);
#pragma unroll
        for (int step = 1; step < 8; step *= 2)
          scan.join(__shfl_xor_sync(~0u, scan.first, step),
                    __shfl_xor_sync(~0u, scan.second, step));
        const int r = (i * kThreads + threadIdx.x) / 8;
        if (threadIdx.x % 8 == 0) halves[0][r] = halves[1][r] = {scan.first, scan.second};
      }
    } else {
      const int r = threadIdx.x % kBlockRows, half = threadIdx.x / kBlockRows;
      RowScan<kAlgebra> scan;
#pragma unroll 8
      for (int t = half * (kTerms / 2); t < (half + 1) * (kTerms / 2); ++t) {
        if (is_whole || (first_row + r < f.rows && begin + t < f.terms))
          scan.add(tile[t][r ^ (t / kUnit * 4)], 0.0f);
      }
      halves[half][r] = {scan.first, scan.second};
    }
    __syncthreads();
    if (threadIdx.x < kBlockRows) {
      const int r = threadIdx.x;
      RowScan<kAlgebra> scan;
      scan.join(halves[0][r].x, halves[0][r].y);
      scan.join(halves[1][r].x, halves[1][r].y);
      scanned[r] = {scan.first, scan.second};
      scans[static_cast<std::int64_t>(term_block) * packed.rows() + r] = scanned[r];
    }
#if __CUDA_ARCH__ >= 900
    cluster_sync();
#endif
  }
  if (threadIdx.x < kBlockRows) {
    const int r = threadIdx.x;
    RowScan<kAlgebra> scan;
    for (int c = 0; c < chunks; ++c) {
#if __CUDA_ARCH__ >= 900
      const float2 part = kScans ? read_of_block(&scanned[kScans ? r : 0], c)
                                 : scans[static_cast<std::int64_t>(c) * packed.rows() + r];
#else
      const float2 part = scans[static_cast<std::int64_t>(c) * packed.rows() + r];
#endif
      scan.join(part.x, part.y);
    }
    const RowScale scale = scale_of<kAlgebra, kParts>(scan.first, scan.second);
    shifts[r] = scale.shift;
    factors[r] = scale.factor;
    if (term_block == 0) {
      const std::int64_t at = static_cast<std::int64_t>(batch) * packed.rows() + first_row + r;
      packed.exponents[at] = scale.exponent;
      packed.values[at] = scale.value;
      if (!scale.fits) fits = 0;
    }
  }
  __syncthreads();
  if (term_block == 0 && threadIdx.x == 0) packed.fits[batch * packed.blocks + block] = fits;

  unsigned char* out = packed.data + ((static_cast<std::int64_t>(batch) * packed.blocks + block) *
                                          packed.term_blocks +
                                      term_block) *
                                         kBlockBytes;
  const float* centre = pair.centre + static_cast<std::int64_t>(batch) * f.terms + begin;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int at = i * kThreads + threadIdx.x, r = at / 8, unit = at % 8;
    const float shift = shifts[r], factor = factors[r];
    float y[kUnit];
#pragma unroll
    for (int e = 0; e < kUnit; ++e) {
      const int t = unit * kUnit + e;
      const float value =
          along_terms ? part_of(x[i * (kUnit / 4) + e / 4], e % 4) : tile[t][r ^ (unit * 4)];
      const bool is_inside = is_whole || (first_row + r < f.rows && begin + t < f.terms);
      if constexpr (kAlgebra == Algebra::kLog) {
        y[e] = is_inside ? expf(value - shift) * factor : 0.0f;
      } else if constexpr (kAlgebra == Algebra::kEuclidean) {
        y[e] = is_inside ? (value - centre[t]) * factor : 0.0f;
      } else {
        y[e] = value * factor;
      }
    }
    split_into<kParts>(y, out + r * 128 + ((unit ^ (r & 7)) * 16));
  }
#if __CUDA_ARCH__ >= 900
  if constexpr (kScans) cluster_sync();  // no block leaves while another may still read of it
#endif
}

template <class F>
void with_algebra(Algebra algebra, const F& f) {
  if (algebra == Algebra::kReal) return f.template operator()<Algebra::kReal>();
  if (algebra == Algebra::kLog) return f.template operator()<Algebra::kLog>();
  return f.template operator()<Algebra::kEuclidean>();
}

}  // namespace

Packed plan_packed(Arena& arena, Parts parts, std::int64_t batches, int rows, int terms) {
  Packed p;
  p.batches = static_cast<int>(batches);
  p.blocks = static_cast<int>(ceil_div(rows, kBlockRows));
  p.term_blocks = static_cast<int>(ceil_div(terms, terms_of(parts)));
  const std::int64_t rows_in_all = batches * p.rows();
  p.data = arena.take<unsigned char>(batches * p.blocks * p.term_blocks * kBlockBytes);
  p.chunks = static_cast<int>(ceil_div(terms, chunk_terms(terms)));
  p.scans = arena.take<float2>(rows_in_all * p.chunks);
  p.exponents = arena.take<int>(rows_in_all);
  p.values = arena.take<float>(rows_in_all);
  p.fits = arena.take<int>(batches * p.blocks);
  return p;
}

void find_centre(const Factor<float>& a, const Factor<float>& b, int batches, float* centre,
                 cudaStream_t stream) {
  const std::int64_t items = static_cast<std::int64_t>(batches) * a.terms;
  centre_kernel<<<static_cast<unsigned>(ceil_div(items, 8)), 256, 0, stream>>>(a, b, batches,
                                                                               centre);
  check(cudaGetLastError(), "centre_kernel");
}

void scan_rows(Algebra algebra, const Factor<float>& a, const Packed& packed_a,
               const Factor<float>& b, const Packed& packed_b, const float* centre, int* flags,
               std::int64_t count, cudaStream_t stream) {
  const int chunks = packed_a.chunks;
  const bool follows = algebra == Algebra::kEuclidean;  // find_centre
  const int split = packed_a.batches * packed_a.blocks * chunks;
  const int grid = split + packed_b.batches * packed_b.blocks * chunks;
  with_algebra(algebra, [&]<Algebra kAlgebra>() {
    const Pair pair{a, b, packed_a, packed_b, centre};
    if (chunk_terms(a.terms) == kChunkTerms) {
      launch_kernel(scan_kernel<kAlgebra, kChunkTerms>, grid, kThreads, 0, stream, follows, pair,
                    split, chunks, flags, count);
    } else {
      launch_kernel(scan_kernel<kAlgebra, kShortChunkTerms>, grid, kThreads, 0, stream, follows,
                    pair, split, chunks, flags, count);
    }
  });
}

void pack(Algebra algebra, Parts parts, const Factor<float>& a, const Packed& packed_a,
          const Factor<float>& b, const Packed& packed_b, const float* centre, const int* wanted,
          cudaStream_t stream) {
  const int chunks = packed_a.chunks;
  const int split = packed_a.batches * packed_a.blocks * packed_a.term_blocks;
  const int grid = split + packed_b.batches * packed_b.blocks * packed_b.term_blocks;
  with_algebra(algebra, [&]<Algebra kAlgebra>() {
    const Pair pair{a, b, packed_a, packed_b, centre};
    if (parts == Parts::kHalf) {
      launch_kernel(pack_kernel<kAlgebra, Parts::kHalf, false>, grid, kThreads, 0, stream, true,
                    pair, split, chunks, wanted, nullptr, std::int64_t{0});
    } else {
      launch_kernel(pack_kernel<kAlgebra, Parts::kTf32, false>, grid, kThreads, 0, stream, true,
                    pair, split, chunks, wanted, nullptr, std::int64_t{0});
    }
  });
}

void scan_and_pack(Algebra algebra, const Factor<float>& a, const Packed& packed_a,
                   const Factor<float>& b, const Packed& packed_b, int* flags, std::int64_t count,
                   cudaStream_t stream) {
  static_assert(kShortChunkTerms == kHalfTerms);  // a chunk is what a block packs
  const int split = packed_a.batches * packed_a.blocks * packed_a.term_blocks;
  const int grid = split + packed_b.batches * packed_b.blocks * packed_b.term_blocks;
  const Pair pair{a, b, packed_a, packed_b, nullptr};
  const auto kernel = algebra == Algebra::kReal ? pack_kernel<Algebra::kReal, Parts::kHalf, true>
                                                : pack_kernel<Algebra::kLog, Parts::kHalf, true>;
  launch_clusters(kernel, grid, kThreads, packed_a.term_blocks, stream, pair, split,
                  packed_a.chunks, nullptr, flags, count);
}

}  // namespace assay::semiring::cuda
