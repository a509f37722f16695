// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>

#include "semiring/cuda/plain_product.h"
#include "semiring/cuda/ptx.cuh"

namespace assay::semiring::cuda {
namespace {

constexpr int kTile = 32, kTerms = 16, kThreads = 64;  // 4×4 entries for each thread

// Each algebra over T (with constructors: nvcc 13.0 forgets the initialisers of members in half of
// an array of arrays): a State takes the terms of a slice, a[l] and b[l] for l < kTerms with
// absent() beyond the end, and becomes the entry.

template <typename T>
struct RealSum {
  T sum;
  __device__ RealSum() : sum(0) {}
  static __device__ T absent() { return 0; }
  __device__ void add(T a, T b) { sum = fma(a, b, sum); }
  __device__ T finish() const { return sum; }
};

template <typename T>
struct Largest {
  T largest;
  __device__ Largest() : largest(-INFINITY) {}
  static __device__ T absent() { return -INFINITY; }
  __device__ void add(T a, T b) { largest = max_or_nan(largest, a + b); }
  __device__ T finish() const { return largest; }
};

template <typename T>
struct Smallest {
  T largest;  // of the negated terms
  __device__ Smallest() : largest(-INFINITY) {}
  static __device__ T absent() { return INFINITY; }
  __device__ void add(T a, T b) { largest = max_or_nan(largest, -(a + b)); }
  __device__ T finish() const { return -largest; }
};

// f32: the squares in f64, where none overflows or vanishes.
template <typename T>
struct Squares {
  double sum;
  __device__ Squares() : sum(0) {}
  static __device__ T absent() { return 0; }
  __device__ void add(T a, T b) {
    const double d = static_cast<double>(a) - static_cast<double>(b);
    sum = fma(d, d, sum);
  }
  __device__ T finish() const { return static_cast<T>(sqrt(sum)); }
  // f64 whose squares may have overflowed or vanished: once more, scaled.
  __device__ bool is_in_range() const {
    return std::is_same_v<T, float> || (sum >= 0x1p-900 && sum <= 0x1p1000);
  }
};

// log Σ exp in its online form, a slice at a time.
template <typename T>
struct LogSum {
  T largest;
  double sum;
  __device__ LogSum() : largest(-INFINITY), sum(0) {}
  static __device__ T absent() { return -INFINITY; }
  __device__ T raise(T slice_largest) {  // returns what is to be subtracted from terms
    const T raised = max_or_nan(slice_largest, largest);
    if (raised != largest) sum *= static_cast<double>(exp(largest - raised));
    largest = raised;
    return isfinite(raised) ? raised : T{0};
  }
  __device__ T finish() const {
    if (!isfinite(largest)) return largest;
    return static_cast<T>(static_cast<double>(largest) + log(sum));
  }
};

// √ Σ d², the differences scaled by the power of two that brings the largest to [1, 2).
__device__ double scaled_distance(const double* a, std::int64_t a_stride, const double* b,
                                  std::int64_t b_stride, int terms) {
  double largest = 0;
  for (int l = 0; l < terms; ++l)
    largest = max_or_nan(largest, fabs(a[l * a_stride] - b[l * b_stride]));
  if (!(largest > 0) || isinf(largest)) return largest;
  const int e = ilogb(largest);
  const double half = ldexp(1.0, -e / 2), rest = ldexp(1.0, -e + e / 2);
  double sum = 0;
  for (int l = 0; l < terms; ++l) {
    const double d = (a[l * a_stride] - b[l * b_stride]) * half * rest;
    sum = fma(d, d, sum);
  }
  return ldexp(sqrt(sum), e);
}

template <template <typename> class State, typename T>
__device__ __forceinline__ void plain_tile(const PlainProduct<T>& p, int tile_m, int tile_n) {
  __shared__ T left[kTerms][kTile + 1], right[kTerms][kTile + 1];
  const int batch = blockIdx.y;
  const int row0 = tile_m * kTile, column0 = tile_n * kTile;
  if (p.chosen.flags != nullptr) {
    const int rows = (p.m + p.chosen.tile_rows - 1) / p.chosen.tile_rows;
    const int columns = (p.n + p.chosen.tile_columns - 1) / p.chosen.tile_columns;
    const std::int64_t at =
        (static_cast<std::int64_t>(batch) * rows + row0 / p.chosen.tile_rows) * columns +
        column0 / p.chosen.tile_columns;
    if (p.chosen.flags[at] != p.chosen.wanted) return;
    if (p.chosen.entries != nullptr && threadIdx.x == 0)
      atomicAdd(p.chosen.entries, static_cast<unsigned long long>(min(kTile, p.m - row0)) *
                                      min(kTile, p.n - column0));
  }
  const T* a = p.a.data + batch * p.a.batch_stride;
  const T* b = p.b.data + batch * p.b.batch_stride;
  const int tx = threadIdx.x % 8, ty = threadIdx.x / 8;
  State<T> state[4][4];
  const auto load = [&](const Factor<T>& f, const T* data, int first, int begin,
                        T(&to)[kTerms][kTile + 1]) {
    const bool terms_first = llabs(f.term_stride) <= llabs(f.row_stride);
#pragma unroll
    for (int i = 0; i < kTile * kTerms / kThreads; ++i) {
      const int at = i * kThreads + threadIdx.x;
      const int r = terms_first ? at / kTerms : at % kTile;
      const int t = terms_first ? at % kTerms : at / kTile;
      const bool is_inside = first + r < f.rows && begin + t < f.terms;
      to[t][r] = is_inside ? data[(first + r) * f.row_stride + (begin + t) * f.term_stride]
                           : State<T>::absent();
    }
  };
  for (int begin = 0; begin < p.k; begin += kTerms) {
    __syncthreads();
    load(p.a, a, row0, begin, left);
    load(p.b, b, column0, begin, right);
    __syncthreads();
    if constexpr (std::is_same_v<State<T>, LogSum<T>>) {
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
          T largest = -INFINITY;
          for (int l = 0; l < kTerms; ++l)
            largest = max_or_nan(largest, left[l][ty * 4 + i] + right[l][tx + 8 * j]);
          const T shift = state[i][j].raise(largest);
          T sum = 0;
          for (int l = 0; l < kTerms; ++l)
            sum += exp((left[l][ty * 4 + i] + right[l][tx + 8 * j]) - shift);
          state[i][j].sum += static_cast<double>(sum);
        }
      }
    } else {
#pragma unroll
      for (int l = 0; l < kTerms; ++l) {
        T x[4], y[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) x[i] = left[l][ty * 4 + i], y[i] = right[l][tx + 8 * i];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int j = 0; j < 4; ++j) state[i][j].add(x[i], y[j]);
        }
      }
    }
  }
  T* c = p.c.data + batch * p.c.batch_stride;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int row = row0 + ty * 4 + i, column = column0 + tx + 8 * j;
      if (row >= p.m || column >= p.n) continue;
      T out = state[i][j].finish();
      if constexpr (std::is_same_v<State<T>, Squares<double>>) {
        if (!state[i][j].is_in_range())
          out = scaled_distance(a + row * p.a.row_stride, p.a.term_stride,
                                b + column * p.b.row_stride, p.b.term_stride, p.k);
      }
      c[row * p.c.row_stride + column * p.c.column_stride] = out;
    }
  }
}

template <template <typename> class State, typename T>
__global__ void __launch_bounds__(kThreads)
    plain_kernel(PlainProduct<T> p, int tiles_m, int tiles_n) {
  after_the_kernel_before();
  if (p.chosen.any != nullptr && *p.chosen.any != 1) return;
  for (int tile = blockIdx.x; tile < tiles_m * tiles_n; tile += gridDim.x) {
    plain_tile<State, T>(p, tile / tiles_n, tile % tiles_n);
  }
}

template <typename T>
void launch(const PlainProduct<T>& p, cudaStream_t stream) {
  const int tiles_m = static_cast<int>(ceil_div(p.m, kTile));
  const int tiles_n = static_cast<int>(ceil_div(p.n, kTile));
  constexpr int kMostBatches = 65535;
  for (int first = 0; first < p.batches; first += kMostBatches) {
    PlainProduct<T> part = p;
    part.batches = std::min(kMostBatches, p.batches - first);
    part.a.data += first * p.a.batch_stride;
    part.b.data += first * p.b.batch_stride;
    part.c.data += first * p.c.batch_stride;
    if (p.chosen.flags != nullptr)
      part.chosen.flags +=
          first * ceil_div(p.m, p.chosen.tile_rows) * ceil_div(p.n, p.chosen.tile_columns);
    // Blocks that only look at flags take as long to start as to look at several.
    const std::int64_t tiles = static_cast<std::int64_t>(tiles_m) * tiles_n;
    const std::int64_t blocks =
        p.chosen.flags == nullptr ? tiles : std::min<std::int64_t>(tiles, 1024);
    const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(part.batches));
    const bool follows = p.chosen.flags != nullptr && p.chosen.follows;
    switch (p.algebra) {
      case Algebra::kReal:
        launch_kernel(plain_kernel<RealSum, T>, grid, kThreads, 0, stream, follows, part, tiles_m,
                      tiles_n);
        break;
      case Algebra::kLog:
        launch_kernel(plain_kernel<LogSum, T>, grid, kThreads, 0, stream, follows, part, tiles_m,
                      tiles_n);
        break;
      case Algebra::kMaxPlus:
        launch_kernel(plain_kernel<Largest, T>, grid, kThreads, 0, stream, follows, part, tiles_m,
                      tiles_n);
        break;
      case Algebra::kMinPlus:
        launch_kernel(plain_kernel<Smallest, T>, grid, kThreads, 0, stream, follows, part, tiles_m,
                      tiles_n);
        break;
      default:
        launch_kernel(plain_kernel<Squares, T>, grid, kThreads, 0, stream, follows, part, tiles_m,
                      tiles_n);
    }
  }
}

}  // namespace

void plain_product(const PlainProduct<float>& p, cudaStream_t stream) { launch(p, stream); }
void plain_product(const PlainProduct<double>& p, cudaStream_t stream) { launch(p, stream); }

}  // namespace assay::semiring::cuda
