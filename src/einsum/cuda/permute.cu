// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "einsum/cuda/launch.h"
#include "einsum/cuda/numbers.cuh"
#include "einsum/cuda/permute.h"
#include "einsum/cuda/permute_squares.h"
#include "einsum/lower/permute_boxes.h"
#include "einsum/lower/permute_turns.h"

namespace assay::einsum::cuda {
namespace {

constexpr int kThreads = 256;

// A box's element number `e` of one side's order: where its coordinates are.
template <typename Use>
__device__ inline void for_coordinates(const PermuteBoxes& p, const int* order, int e, Use use) {
  for (int i = 0; i < p.in_box; ++i) {
    const int l = order[i], next = e / p.box[l];
    use(l, e - next * p.box[l]);
    e = next;
  }
}

// Tables of where the elements of a box lie, made once, then box after box: into registers, into
// the block's memory in the order of a, out of it in the order of c.
template <typename T, bool kScales>
__global__ void __launch_bounds__(kThreads)
    permute_boxes_kernel(const PermuteBoxes p, const T* __restrict__ a, T* __restrict__ c, T alpha,
                         T beta) {
  constexpr int kEach = sizeof(T) == 16 ? 8 : 16;  // elements of a box for each thread
  extern __shared__ double2 storage[];
  T* const data = reinterpret_cast<T*>(storage);
  std::int32_t* const from = reinterpret_cast<std::int32_t*>(data + p.padded_elements());
  std::int32_t* const to = from + p.elements;
  std::uint16_t* const held = reinterpret_cast<std::uint16_t*>(to + p.elements);
  const int pad = p.pad_shift;
  for (int e = threadIdx.x; e < p.elements; e += kThreads) {
    std::int32_t at_a = 0, at_c = 0, at = 0;
    for_coordinates(p, p.order_a, e, [&](int l, int x) { at_a += x * static_cast<int>(p.a[l]); });
    for_coordinates(p, p.order_c, e, [&](int l, int x) {
      at_c += x * static_cast<int>(p.c[l]);
      at += x * p.stride_a[l];
    });
    from[e] = at_a;
    to[e] = at_c;
    held[e] = static_cast<std::uint16_t>(at + (at >> pad));
  }
  __syncthreads();
  // Where a box begins, and how much of it there is along the loops that are cut.
  struct Place {
    std::int64_t a = 0, c = 0;
    int left[2] = {1 << 30, 1 << 30};
    bool whole = true;
  };
  const auto place_of = [&](int box) {
    Place at;
    int rest = box;
    for (int l = 0; l < p.loops; ++l) {
      if (p.parts[l] == 1) continue;
      const int next = rest / p.parts[l], first = (rest - next * p.parts[l]) * p.box[l];
      rest = next;
      at.a += first * p.a[l];
      at.c += first * p.c[l];
#pragma unroll
      for (int k = 0; k < 2; ++k) {  // by constants, so that they stay in registers
        if (k >= p.cuts || p.cut[k] != l) continue;
        at.left[k] = p.extent[l] - first;
        at.whole = at.whole && at.left[k] >= p.box[l];
      }
    }
    return at;
  };
  const auto exists = [&](const Place& at, const std::int32_t* strides, int e) {
    bool inside = true;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      if (k < p.cuts) inside = inside && e / strides[k] % p.box[p.cut[k]] < at.left[k];
    }
    return inside;
  };
  T taken[kEach];
  const auto take = [&](const Place& at) {
    const T* const first = a + at.a;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int e = threadIdx.x + i * kThreads;
      if (e < p.elements && (at.whole || exists(at, p.cut_in_a, e))) taken[i] = first[from[e]];
    }
  };
  // The next box is on its way while one is written.
  int box = blockIdx.x;
  Place at = place_of(box);
  take(at);
  for (;;) {
    __syncthreads();  // the box before has been written
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int e = threadIdx.x + i * kThreads;
      if (e < p.elements) data[e + (e >> pad)] = taken[i];
    }
    __syncthreads();
    box += gridDim.x;
    const Place next = box < p.boxes ? place_of(box) : Place();
    if (box < p.boxes) take(next);
    T* const first = c + at.c;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int e = threadIdx.x + i * kThreads;
      if (e < p.elements && (at.whole || exists(at, p.cut_in_c, e))) {
        T value = data[held[e]];
        T* const to_here = first + to[e];
        if constexpr (kScales) {
          value = alpha * value;
          if (!is_zero(beta)) value = value + beta * *to_here;
        }
        *to_here = value;
      }
    }
    if (box >= p.boxes) return;
    at = next;
  }
}

// Any loops, an element at a time: for what does not fit the boxes' numbers.
struct AnyLoops {
  int loops = 0;
  std::int64_t extent[kMostLoops], a[kMostLoops], c[kMostLoops];
  std::int64_t elements = 1;
};

template <typename T>
__global__ void permute_any_kernel(const AnyLoops p, const T* a, T* c, T alpha, T beta) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t e = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
       e < p.elements; e += step) {
    std::int64_t rest = e, at_a = 0, at_c = 0;
    for (int l = p.loops - 1; l >= 0; --l) {
      const std::int64_t next = rest / p.extent[l], x = rest - next * p.extent[l];
      at_a += x * p.a[l];
      at_c += x * p.c[l];
      rest = next;
    }
    T value = alpha * a[at_a];
    if (!is_zero(beta)) value = value + beta * c[at_c];
    c[at_c] = value;
  }
}

template <bool kScales, typename N>
void launch_boxes(const PermuteBoxes& p, const N* a, N* c, N alpha, N beta,
                  kernels::cuda::Stream stream) {
  const std::size_t shared =
      p.padded_elements() * sizeof(N) + static_cast<std::size_t>(p.elements) * (4 + 4 + 2);
  auto* const kernel = permute_boxes_kernel<N, kScales>;
  launch(kernel, resident_blocks(kernel, kThreads, shared, p.boxes), kThreads, shared, stream, p, a,
         c, alpha, beta);
}
template <typename N>
void move_in_boxes(const PermuteBoxes& p, const N* a, N* c, kernels::cuda::Stream stream) {
  launch_boxes<false, N>(p, a, c, N(), N(), stream);
}
template <typename N>
void in_boxes(const PermuteBoxes& p, const N* a, N* c, N alpha, N beta,
              kernels::cuda::Stream stream) {
  if (is_one(alpha) && is_zero(beta)) {
    move_in_boxes<N>(p, a, c, stream);
  } else {
    launch_boxes<true, N>(p, a, c, alpha, beta, stream);
  }
}

// Sixteen bytes of numbers that only move.
struct alignas(16) Block {
  std::uint32_t words[4];
};

bool is_aligned(const void* at, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(at) % bytes == 0;
}

// Rows that stay rows move in blocks of a few elements, if all of them begin on such a boundary.
// The loops of the blocks; nothing if that cannot be.
std::vector<Loop> loops_of_blocks(std::span<const Loop> loops, std::int64_t together) {
  std::vector<Loop> found(loops.begin(), loops.end());
  bool has_rows = false;
  for (auto& loop : found) {
    if (loop.a == 1 && loop.c == 1 && loop.extent % together == 0 && !has_rows) {
      loop.extent /= together;
      has_rows = true;
    } else if (loop.a % together == 0 && loop.c % together == 0) {
      loop.a /= together;
      loop.c /= together;
    } else {
      return {};
    }
  }
  return has_rows ? found : std::vector<Loop>();
}

template <typename T>
bool permute_in_blocks(std::span<const Loop> loops, const T* a, T* c,
                       kernels::cuda::Stream stream) {
  constexpr std::int64_t kTogether = sizeof(Block) / sizeof(T);
  if (kTogether < 2 || !is_aligned(a, sizeof(Block)) || !is_aligned(c, sizeof(Block))) return false;
  const auto blocks = loops_of_blocks(loops, kTogether);
  if (blocks.empty()) return false;
  const auto boxes = permute_boxes(blocks, sizeof(Block));
  if (!boxes) return false;
  move_in_boxes<Block>(*boxes, reinterpret_cast<const Block*>(a), reinterpret_cast<Block*>(c),
                       stream);
  return true;
}

template <typename T>
bool permute_in_squares(std::span<const Loop> loops, const T* a, T* c,
                        kernels::cuda::Stream stream) {
  if (sizeof(T) == 16 || !is_aligned(a, 16) || !is_aligned(c, 16)) return false;
  const auto turns = permute_turns(loops, sizeof(T));
  if (turns) turn_squares(*turns, sizeof(T), a, c, stream);
  return turns.has_value();
}

}  // namespace

template <typename T>
void permute(std::span<const Loop> loops, const T* a, T* c, T alpha, T beta,
             kernels::cuda::Stream stream) {
  if (alpha == T(1) && beta == T(0) &&
      (permute_in_blocks<T>(loops, a, c, stream) || permute_in_squares<T>(loops, a, c, stream))) {
    return;
  }
  using N = DeviceNumber<T>;
  const auto* from = reinterpret_cast<const N*>(a);
  auto* to = reinterpret_cast<N*>(c);
  if (const auto boxes = permute_boxes(loops, sizeof(T))) {
    in_boxes<N>(*boxes, from, to, device_number(alpha), device_number(beta), stream);
    return;
  }
  AnyLoops any;
  any.loops = checked_loops(loops.size());
  for (int l = 0; l < any.loops; ++l) {
    const Loop& loop = loops[static_cast<std::size_t>(l)];
    any.extent[l] = loop.extent;
    any.a[l] = loop.a;
    any.c[l] = loop.c;
    any.elements *= loop.extent;
  }
  launch(permute_any_kernel<N>, blocks_for(any.elements, kThreads), kThreads, 0, stream, any, from,
         to, device_number(alpha), device_number(beta));
}

#define ASSAY_INSTANTIATE(T) \
  template void permute<T>(std::span<const Loop>, const T*, T*, T, T, kernels::cuda::Stream);
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
ASSAY_INSTANTIATE(std::complex<float>)
ASSAY_INSTANTIATE(std::complex<double>)
#undef ASSAY_INSTANTIATE

}  // namespace assay::einsum::cuda
