// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cuda/source/device_text.h"

namespace assay::compiler::cuda {

// wait_for_others(): all kernels before are done and what they wrote is seen. Every kernel calls it
// before it reads or writes anything that another may write; what nobody writes (weights) may be
// read before. let_others_begin(): kernels behind may be put on the device; they wait for the end
// of this one by themselves.
std::string_view collective_text() {
  return R"cuda(
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
DEVICE void wait_for_others() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
DEVICE void let_others_begin() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
#else
DEVICE void wait_for_others() {}
DEVICE void let_others_begin() {}
#endif
// Sixteen bytes that are read once, past the nearest cache. Not by ld.global.nc: the assembler puts
// those behind wait_for_others(), wherever they stand here.
DEVICE quad read_once(const void* from) {
#ifdef ASSAY_ON_HOST
  return *(const quad*)from;
#else
  quad r;
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "l"(from));
  return r;
#endif
}
// What another block wrote, which was seen to be done (`is_last`).
DEVICE float fresh(const float* from) {
#ifdef ASSAY_ON_HOST
  return *from;
#else
  float x;
  asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(x) : "l"(from) : "memory");
  return x;
#endif
}
// Whether this block is the last of `count` that come here with the counter, which is zero before
// the first and after the last. Then it sees what the others wrote.
DEVICE bool is_last(int* counter, int count) {
  __shared__ int before;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) before = atomicAdd(counter, 1);
  __syncthreads();
  if (before != count - 1) return false;
  if (threadIdx.x == 0) *counter = 0;
  __threadfence();
  return true;
}
// Neighbours at once where they begin on a boundary, one by one otherwise.
template <int V, typename T>
DEVICE void load(T (&to)[V], const T* from) {
  constexpr int kBytes = V * (int)sizeof(T);
  if constexpr (kBytes >= 16) {
    if (((u64)from & 15) == 0) {
#pragma unroll
      for (int i = 0; i < kBytes / 16; ++i) ((quad*)to)[i] = ((const quad*)from)[i];
      return;
    }
  } else if constexpr (kBytes == 8) {
    if (((u64)from & 7) == 0) {
      *(pair*)to = *(const pair*)from;
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < V; ++i) to[i] = from[i];
}
template <int V, typename T>
DEVICE void store(T* to, const T (&from)[V]) {
  constexpr int kBytes = V * (int)sizeof(T);
  if constexpr (kBytes >= 16) {
    if (((u64)to & 15) == 0) {
#pragma unroll
      for (int i = 0; i < kBytes / 16; ++i) ((quad*)to)[i] = ((const quad*)from)[i];
      return;
    }
  } else if constexpr (kBytes == 8) {
    if (((u64)to & 7) == 0) {
      *(pair*)to = *(const pair*)from;
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < V; ++i) to[i] = from[i];
}
struct SumOf {
  DEVICE float of(float a, float b) { return __fadd_rn(a, b); }
  DEVICE double of(double a, double b) { return a + b; }
  DEVICE i64 of(i64 a, i64 b) { return add_wrapped(a, b); }
  DEVICE bool of(bool a, bool b) { return a || b; }
};
struct GreatestOf {
  template <typename T>
  DEVICE T of(T a, T b) { return greatest(a, b); }
};
DEVICE float shuffled(float x, int by) { return __shfl_xor_sync(0xffffffffu, x, by); }
DEVICE double shuffled(double x, int by) { return __shfl_xor_sync(0xffffffffu, x, by); }
DEVICE int shuffled(int x, int by) { return __shfl_xor_sync(0xffffffffu, x, by); }
DEVICE i64 shuffled(i64 x, int by) { return __shfl_xor_sync(0xffffffffu, x, by); }
DEVICE bool shuffled(bool x, int by) { return __shfl_xor_sync(0xffffffffu, (int)x, by) != 0; }
// Of `kThreads` threads: a warp, or the whole block; all of them get it.
template <int kThreads, typename Operation, typename T>
DEVICE T together(T x) {
#pragma unroll
  for (int by = 16; by > 0; by /= 2) x = Operation::of(x, shuffled(x, by));
  if constexpr (kThreads > 32) {
    __shared__ T parts[32];
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    x = parts[0];
    for (int i = 1; i < kThreads / 32; ++i) x = Operation::of(x, parts[i]);
  }
  return x;
}
// d += a b of tensor cores: a 16 × 16 by rows, b 16 × 8 by columns, d in f32.
template <bool kIsBf16>
DEVICE void multiply_tile(float (&d)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
#ifdef ASSAY_ON_HOST
  host_multiply_tile(kIsBf16, d, a0, a1, a2, a3, b0, b1);
#else
  if constexpr (kIsBf16) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  } else {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
#endif
}
)cuda";
}

}  // namespace assay::compiler::cuda
