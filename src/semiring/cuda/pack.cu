// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/cuda/row_scale.cuh"
#include "semiring/cuda/row_scan.cuh"

namespace assay::semiring::cuda {
namespace {

// kScans: the blocks of a cluster have the terms of the same rows, a chunk each, and scan them
// first; also clears the flags. Otherwise does nothing where `wanted` holds 0.
template <Algebra kAlgebra, Parts kParts, bool kScans>
__global__ void __launch_bounds__(kFactorThreads)
    pack_kernel(FactorPair pair, int split, int chunks, const int* wanted, int* flags,
                std::int64_t flag_count) {
  after_the_kernel_before();
  if constexpr (kScans) {
    for (std::int64_t i = blockIdx.x * kFactorThreads + threadIdx.x; i < flag_count;
         i += static_cast<std::int64_t>(gridDim.x) * kFactorThreads)
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
  constexpr int kItems = kBlockRows * 8 / kFactorThreads;  // units for each thread
  constexpr int kLoads = kBlockRows * kTerms / 4 / kFactorThreads;

  // Loads first: they take longest.
  float4 x[kLoads];
  if (along_terms) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int at = i * kFactorThreads + threadIdx.x, r = at / 8, t = at % 8 * kUnit;
#pragma unroll
      for (int e = 0; e < kUnit / 4; ++e)
        x[i * (kUnit / 4) + e] = *reinterpret_cast<const float4*>(
            data + (first_row + r) * f.row_stride + begin + t + 4 * e);
    }
  } else if (is_whole && in_fours(f, f.row_stride, f.term_stride)) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int at = i * kFactorThreads + threadIdx.x, r = at % 32 * 4, t = at / 32;
      x[i] = *reinterpret_cast<const float4*>(data + first_row + r + (begin + t) * f.term_stride);
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int at = i * kFactorThreads + threadIdx.x, r = at % 32 * 4, t = at / 32;
      *reinterpret_cast<float4*>(&tile[t][r ^ (t / kUnit * 4)]) = x[i];
    }
  } else {
    const bool terms_first = llabs(f.term_stride) <= llabs(f.row_stride);
#pragma unroll 8
    for (int at = threadIdx.x; at < kBlockRows * kTerms; at += kFactorThreads) {
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
        const int r = (i * kFactorThreads + threadIdx.x) / 8;
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
    const int at = i * kFactorThreads + threadIdx.x, r = at / 8, unit = at % 8;
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

void pack(Algebra algebra, Parts parts, const Factor<float>& a, const Packed& packed_a,
          const Factor<float>& b, const Packed& packed_b, const float* centre, const int* wanted,
          cudaStream_t stream) {
  const int chunks = packed_a.chunks;
  const int split = packed_a.batches * packed_a.blocks * packed_a.term_blocks;
  const int grid = split + packed_b.batches * packed_b.blocks * packed_b.term_blocks;
  with_algebra(algebra, [&]<Algebra kAlgebra>() {
    const FactorPair pair{a, b, packed_a, packed_b, centre};
    if (parts == Parts::kHalf) {
      launch_kernel(pack_kernel<kAlgebra, Parts::kHalf, false>, grid, kFactorThreads, 0, stream,
                    true, pair, split, chunks, wanted, nullptr, std::int64_t{0});
    } else {
      launch_kernel(pack_kernel<kAlgebra, Parts::kTf32, false>, grid, kFactorThreads, 0, stream,
                    true, pair, split, chunks, wanted, nullptr, std::int64_t{0});
    }
  });
}

void scan_and_pack(Algebra algebra, const Factor<float>& a, const Packed& packed_a,
                   const Factor<float>& b, const Packed& packed_b, int* flags, std::int64_t count,
                   cudaStream_t stream) {
  static_assert(kShortChunkTerms == kHalfTerms);  // a chunk is what a block packs
  const int split = packed_a.batches * packed_a.blocks * packed_a.term_blocks;
  const int grid = split + packed_b.batches * packed_b.blocks * packed_b.term_blocks;
  const FactorPair pair{a, b, packed_a, packed_b, nullptr};
  const auto kernel = algebra == Algebra::kReal ? pack_kernel<Algebra::kReal, Parts::kHalf, true>
                                                : pack_kernel<Algebra::kLog, Parts::kHalf, true>;
  launch_clusters(kernel, grid, kFactorThreads, packed_a.term_blocks, stream, pair, split,
                  packed_a.chunks, nullptr, flags, count);
}

}  // namespace assay::semiring::cuda
