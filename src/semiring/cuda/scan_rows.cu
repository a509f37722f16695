// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/cuda/row_scan.cuh"

namespace assay::semiring::cuda {
namespace {

template <Algebra kAlgebra, int kChunk>
__global__ void __launch_bounds__(kFactorThreads)
    scan_kernel(FactorPair pair, int split, int chunks, int* flags, std::int64_t flag_count) {
  after_the_kernel_before();
  for (std::int64_t i = blockIdx.x * kFactorThreads + threadIdx.x; i < flag_count;
       i += static_cast<std::int64_t>(gridDim.x) * kFactorThreads)
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
  constexpr int kWarps = kFactorThreads / 32;

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

}  // namespace

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
    const FactorPair pair{a, b, packed_a, packed_b, centre};
    if (chunk_terms(a.terms) == kChunkTerms) {
      launch_kernel(scan_kernel<kAlgebra, kChunkTerms>, grid, kFactorThreads, 0, stream, follows,
                    pair, split, chunks, flags, count);
    } else {
      launch_kernel(scan_kernel<kAlgebra, kShortChunkTerms>, grid, kFactorThreads, 0, stream,
                    follows, pair, split, chunks, flags, count);
    }
  });
}

}  // namespace assay::semiring::cuda
