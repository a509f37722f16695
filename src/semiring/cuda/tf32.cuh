// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// TF32: numbers of f32's range with 11 bits, and the instruction that multiplies them.

namespace assay::semiring::cuda {

__device__ __forceinline__ float to_tf32(float x) {
  unsigned r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return __uint_as_float(r);
}

// D (16×8, f32) += A (16×8)·B (8×8), a warp's. Lane l has of A the rows l/4 and l/4 + 8 in the
// terms l%4, then the same in l%4 + 4; of B the terms l%4 and l%4 + 4 in column l/4; of D the
// columns 2(l%4) and the next in row l/4, then in row l/4 + 8.
__device__ __forceinline__ void mma_tf32(float (&d)[4], const unsigned (&a)[4],
                                         const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

}  // namespace assay::semiring::cuda
