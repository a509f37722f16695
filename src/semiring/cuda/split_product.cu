// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
//
// A persistent kernel: clusters of two blocks, each block a tile of 128×128 (128×64 or 128×32 where
// there are few) in two warpgroups that multiply and one that copies. The blocks of a cluster lie
// below each other and share their block of B: each copies half of it into both.
#include "semiring/cuda/ptx.cuh"
#include "semiring/cuda/split_product.h"
#include "semiring/cuda/wgmma.cuh"

namespace assay::semiring::cuda {
namespace {

constexpr int kConsumers = 2;
constexpr int kThreads = 128 * (kConsumers + 1);
constexpr int kCluster = 2;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define ASSAY_IN_CLUSTERS __cluster_dims__(2, 1, 1)
#else
#define ASSAY_IN_CLUSTERS
#endif

template <int kColumns>
struct Shape {
  static constexpr int kPartBytes = kColumns * 128;  // of the block of B
  static constexpr int kStageBytes = kBlockBytes + 2 * kPartBytes;
  static constexpr int kStages = kColumns == 128 ? 3 : 4;
  static constexpr int kSharedBytes = kStages * kStageBytes + 1024;
  static constexpr int kTiles = kBlockRows / kColumns;  // in a block of B
};

struct Tile {
  int batch, row_block, column_tile;
};

// Tiles of one wave lie in a patch of up to 16 × … blocks, so that they share what they read.
template <int kColumns>
__device__ __forceinline__ Tile tile_at(const SplitProduct& p, int index, int rank) {
  constexpr int kGroup = 8;
  const int rows = (p.a.blocks + kCluster - 1) / kCluster;
  const int columns = p.b.blocks * Shape<kColumns>::kTiles;
  const int per_batch = rows * columns;
  Tile tile;
  tile.batch = index / per_batch;
  index %= per_batch;
  const int group = index / (kGroup * columns), first = group * kGroup;
  const int size = min(kGroup, rows - first);
  index -= group * kGroup * columns;
  tile.row_block = (first + index % size) * kCluster + rank;
  tile.column_tile = index / size;
  return tile;
}

__device__ __forceinline__ float times_power(float x, int e) {
  const int half = e / 2;
  return x * __uint_as_float(static_cast<unsigned>(half + 127) << 23) *
         __uint_as_float(static_cast<unsigned>(e - half + 127) << 23);
}

// x + y = sum + error, exactly, unless something overflows.
__device__ __forceinline__ float two_sum(float x, float y, float& error) {
  const float sum = x + y, back = sum - x;
  error = (x - (sum - back)) + (y - back);
  return sum;
}

// left + right + log s for a normal number s > 0, to 4u and a rounding: the logarithm of a mantissa
// in [√½, √2) errs by 2^-22 at most, everything else is exact but the last addition.
__device__ __forceinline__ float sum_and_log(float left, float right, float s) {
  const int bits = __float_as_int(s);
  const int e = (bits - 0x3f3504f3) >> 23;
  const float whole = static_cast<float>(e);
  float log2_rest, error, whole_error;
  asm("lg2.approx.f32 %0, %1;" : "=f"(log2_rest) : "f"(__int_as_float(bits - (e << 23))));
  const float scale = two_sum(left, right, error);
  const float high = two_sum(scale, whole * 0.693359375f, whole_error);  // 10 bits: exact
  const float rest = fmaf(log2_rest, 0.693147181f, whole * -2.12194440e-4f);
  return high + (error + whole_error + rest);
}

__device__ __forceinline__ float fast_root(float x) {  // to 2u
  float r;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

// The entry from the sum, and whether it is certified.
template <Algebra kAlgebra>
__device__ __forceinline__ bool finish(const Certificate& c, float sum, float left, float right,
                                       float& out) {
  if constexpr (kAlgebra == Algebra::kReal) {
    out = sum;
    return true;
  } else if constexpr (kAlgebra == Algebra::kLog) {
    const float scale = left + right;
    const bool settled = scale != scale || scale == -INFINITY;
    const bool certified = sum >= c.least && sum <= c.most && scale < INFINITY;
    out = settled ? scale : sum_and_log(left, right, sum);
    return settled || certified;
  } else {
    const float norms = left + right;
    const float square = fmaf(-2.0f, sum, norms);
    const bool certified = square >= c.share * norms && square >= c.least && norms <= c.most;
    out = fast_root(square);
    return certified;
  }
}

template <Parts kParts, int kSize>
__device__ __forceinline__ void multiply(float (&d)[kSize], std::uint64_t a, std::uint64_t b,
                                         bool accumulate) {
  if constexpr (kParts == Parts::kHalf) {
    wgmma_f16(d, a, b, accumulate);
  } else {
    wgmma_tf32(d, a, b, accumulate);
  }
}

template <Algebra kAlgebra, Parts kParts, int kColumns>
__global__ void ASSAY_IN_CLUSTERS __launch_bounds__(kThreads, 1)
    split_kernel(const __grid_constant__ SplitProduct p, int tiles) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  after_the_kernel_before();
  if (p.only_flagged && *p.any_refused == 0) return;
  using S = Shape<kColumns>;
  constexpr int kStages = S::kStages, kStageBytes = S::kStageBytes, kSums = kColumns / 2;
  extern __shared__ unsigned char raw[];
  __shared__ std::uint64_t full[kStages], empty[kStages];
  unsigned char* stages = reinterpret_cast<unsigned char*>(
      (reinterpret_cast<std::uintptr_t>(raw) + 1023) / 1024 * 1024);
  const int group = threadIdx.x / 128, rank = block_in_cluster();
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], kCluster * kConsumers);
    }
    barrier_init_fence();
  }
  cluster_sync();

  const int clusters = gridDim.x / kCluster, term_blocks = p.a.term_blocks;
  const auto flag_of = [&](const Tile& t) {
    return p.flags + (static_cast<std::int64_t>(t.batch) * p.a.blocks + t.row_block) * p.b.blocks +
           t.column_tile / S::kTiles;
  };
  // Both blocks of a cluster answer alike.
  const auto is_skipped = [&](Tile t) {
    if (!p.only_flagged) return false;
    t.row_block -= rank;
    bool any = false;
    for (int r = 0; r < kCluster; ++r, ++t.row_block)
      any = any || (t.row_block < p.a.blocks && *flag_of(t) != 0);
    return !any;
  };

  if (group == kConsumers) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x % 128 == 0) {
      int stage = 0, phase = 0;
      for (int index = blockIdx.x / kCluster; index < tiles; index += clusters) {
        const Tile t = tile_at<kColumns>(p, index, rank);
        if (is_skipped(t)) continue;
        const std::int64_t a_block =
            static_cast<std::int64_t>(p.a.batches == 1 ? 0 : t.batch) * p.a.blocks +
            min(t.row_block, p.a.blocks - 1);
        const std::int64_t b_block =
            static_cast<std::int64_t>(p.b.batches == 1 ? 0 : t.batch) * p.b.blocks +
            t.column_tile / S::kTiles;
        const unsigned char* a = p.a.data + a_block * term_blocks * kBlockBytes;
        const unsigned char* b = p.b.data + b_block * term_blocks * kBlockBytes +
                                 rank * kPartBytes + t.column_tile % S::kTiles * S::kPartBytes;
        for (int i = 0; i < term_blocks; ++i) {
          barrier_wait(&empty[stage], phase ^ 1);
          barrier_expect(&full[stage], kStageBytes);
          unsigned char* to = stages + stage * kStageBytes;
          bulk_copy(to, a + static_cast<std::int64_t>(i) * kBlockBytes, kBlockBytes, &full[stage]);
          bulk_copy_to_cluster(to + kBlockBytes + rank * S::kPartBytes,
                               b + static_cast<std::int64_t>(i) * kBlockBytes, S::kPartBytes,
                               &full[stage], (1 << kCluster) - 1);
          if (++stage == kStages) stage = 0, phase ^= 1;
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    constexpr int kPromoted =
        kPromotedTerms / kHalfTerms;  // blocks; TF32 has half the terms in each
    const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
    const std::uint32_t base = shared_address(stages);
    int stage = 0, phase = 0;
    const auto release = [&](int s) {
      if (threadIdx.x % 128 < kCluster) barrier_arrive_at(&empty[s], threadIdx.x % 128);
    };
    for (int index = blockIdx.x / kCluster; index < tiles; index += clusters) {
      const Tile t = tile_at<kColumns>(p, index, rank);
      if (is_skipped(t)) continue;
      float total[kSums], large[kSums], small[kSums];
#pragma unroll
      for (int i = 0; i < kSums; ++i) total[i] = large[i] = small[i] = 0.0f;
      for (int first = 0; first < term_blocks; first += kPromoted) {
        const int last = min(first + kPromoted, term_blocks);
        int before = 0;  // the stage whose products are under way
        for (int i = first; i < last; ++i) {
          barrier_wait(&full[stage], phase);
          const std::uint32_t at = base + stage * kStageBytes;
          const std::uint64_t a_high = matrix_descriptor(at + group * (kPartBytes / 2));
          const std::uint64_t b_high = matrix_descriptor(at + kBlockBytes);
          constexpr std::uint64_t kLowA = kPartBytes >> 4, kLowB = S::kPartBytes >> 4;
          wgmma_begin();
#pragma unroll
          for (int part = 0; part < 4; ++part) {
            const std::uint64_t step = part * 2;  // 32 bytes
            multiply<kParts>(large, a_high + step, b_high + step, !(i == first && part == 0));
            multiply<kParts>(small, a_high + step, b_high + step + kLowB, true);
            multiply<kParts>(small, a_high + step + kLowA, b_high + step, true);
          }
          wgmma_commit();
          wgmma_wait<1>();
          if (i > first) release(before);
          before = stage;
          if (++stage == kStages) stage = 0, phase ^= 1;
        }
        wgmma_wait<0>();
        release(before);
#pragma unroll
        for (int e = 0; e < kSums; ++e) total[e] += large[e];
      }

      // Entry 4j + 2h + c of a thread: row lane/4 + 8h of its warp's 16, column 8j + 2(lane%4) + c.
      if (t.row_block >= p.a.blocks) continue;
      const std::int64_t a_rows =
          static_cast<std::int64_t>(p.a.batches == 1 ? 0 : t.batch) * p.a.rows();
      const std::int64_t b_rows =
          static_cast<std::int64_t>(p.b.batches == 1 ? 0 : t.batch) * p.b.rows();
      bool all_certified = true;
      if constexpr (kAlgebra == Algebra::kReal) {
        all_certified = p.a.fits[a_rows / kBlockRows + t.row_block] != 0 &&
                        p.b.fits[b_rows / kBlockRows + t.column_tile / S::kTiles] != 0;
      }
      const int row = t.row_block * kBlockRows + group * 64 + warp * 16 + lane / 4;
      const int column = t.column_tile * kColumns + lane % 4 * 2;
      float* c = p.c.data + t.batch * p.c.batch_stride;
      const bool in_pairs = p.c.column_stride == 1 && p.c.row_stride % 2 == 0 &&
                            p.c.batch_stride % 2 == 0 &&
                            reinterpret_cast<std::uintptr_t>(p.c.data) % 8 == 0;
      const int left_e[2] = {p.a.exponents[a_rows + row], p.a.exponents[a_rows + row + 8]};
      const float left_v[2] = {p.a.values[a_rows + row], p.a.values[a_rows + row + 8]};
#pragma unroll
      for (int j = 0; j < kColumns / 8; ++j) {
        const int col = column + 8 * j;
        const int2 right_e = *reinterpret_cast<const int2*>(p.b.exponents + b_rows + col);
        const float2 right_v = *reinterpret_cast<const float2*>(p.b.values + b_rows + col);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          float out[2];
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            const int k = 4 * j + 2 * h + e;
            const float sum = times_power(fmaf(small[k], 0x1p-11f, total[k]),
                                          left_e[h] + (e == 0 ? right_e.x : right_e.y));
            const bool certified = finish<kAlgebra>(p.certificate, sum, left_v[h],
                                                    e == 0 ? right_v.x : right_v.y, out[e]);
            if (row + 8 * h < p.m && col + e < p.n) all_certified = all_certified && certified;
          }
          if (row + 8 * h < p.m) {
            float* to = c + (row + 8 * h) * p.c.row_stride + col * p.c.column_stride;
            if (in_pairs && col + 1 < p.n) {
              *reinterpret_cast<float2*>(to) = {out[0], out[1]};
            } else {
              if (col < p.n) to[0] = out[0];
              if (col + 1 < p.n) to[p.c.column_stride] = out[1];
            }
          }
        }
      }
      if (!all_certified) {
        *flag_of(t) = p.only_flagged ? 2 : 1;
        *p.any_refused = 1;
      }
    }
  }
  // No block leaves while the other may still write to it.
  cluster_sync();
#endif
}

template <Algebra kAlgebra, Parts kParts, int kColumns>
void launch_tiles(const SplitProduct& p, int multiprocessors, cudaStream_t stream) {
  using S = Shape<kColumns>;
  const int tiles =
      p.batches * static_cast<int>(ceil_div(p.a.blocks, kCluster)) * p.b.blocks * S::kTiles;
  const int clusters = multiprocessors / kCluster < tiles ? multiprocessors / kCluster : tiles;
  const auto kernel = split_kernel<kAlgebra, kParts, kColumns>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             S::kSharedBytes),  // of each device by itself
        "split_kernel's shared memory");
  launch_kernel(kernel, clusters * kCluster, kThreads, S::kSharedBytes, stream, true, p, tiles);
}

template <Algebra kAlgebra, Parts kParts>
void launch(const SplitProduct& p, int multiprocessors, cudaStream_t stream) {
  const std::int64_t tiles = static_cast<std::int64_t>(p.batches) * p.a.blocks * p.b.blocks;
  if (4 * tiles <= multiprocessors)
    return launch_tiles<kAlgebra, kParts, 32>(p, multiprocessors, stream);
  if (tiles < multiprocessors)
    return launch_tiles<kAlgebra, kParts, 64>(p, multiprocessors, stream);
  launch_tiles<kAlgebra, kParts, 128>(p, multiprocessors, stream);
}

template <Parts kParts>
void launch_parts(const SplitProduct& p, int multiprocessors, cudaStream_t stream) {
  if (p.algebra == Algebra::kReal)
    return launch<Algebra::kReal, kParts>(p, multiprocessors, stream);
  if (p.algebra == Algebra::kLog) return launch<Algebra::kLog, kParts>(p, multiprocessors, stream);
  launch<Algebra::kEuclidean, kParts>(p, multiprocessors, stream);
}

}  // namespace

bool has_split_product(int device) {
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        "the device's capability");
  return major == 9;
}

void split_product(const SplitProduct& p, int multiprocessors, cudaStream_t stream) {
  if (p.parts == Parts::kHalf) return launch_parts<Parts::kHalf>(p, multiprocessors, stream);
  launch_parts<Parts::kTf32>(p, multiprocessors, stream);
}

}  // namespace assay::semiring::cuda
