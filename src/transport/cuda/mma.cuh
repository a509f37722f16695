// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Products in f64 on the tensor cores. For .cu files.

namespace assay::transport::cuda {

// A lane's part of 16×8 numbers: (lane/4, 2(lane%4)) and the next, and those eight rows below.
struct Sums {
  double2 top = {0, 0}, bottom = {0, 0};
};

// c += a b: 16×4 by 4×8. A lane has a(lane/4, lane%4), a(lane/4 + 8, lane%4) and b(lane%4, lane/4).
__device__ __forceinline__ void multiply_add(Sums& c, double a_top, double a_bottom, double b) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%0, %1, %2, %3};"
      : "+d"(c.top.x), "+d"(c.top.y), "+d"(c.bottom.x), "+d"(c.bottom.y)
      : "d"(a_top), "d"(a_bottom), "d"(b));
#else
  const auto half = [b](double2& part, double a) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(part.x), "+d"(part.y)
        : "d"(a), "d"(b));
  };
  half(c.top, a_top);
  half(c.bottom, a_bottom);
#endif
}

}  // namespace assay::transport::cuda
