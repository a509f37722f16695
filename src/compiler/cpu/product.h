// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matrix products whose factors have any floating-point dtype and any strides, with sums in f32 or
// f64.

#include <cstddef>
#include <cstdint>

#include "kernels/tiles/caches.h"
#include "tensor/dtype.h"

namespace assay::compiler {

// Element (i, j) at data[i · row_stride + j · column_stride].
struct Factor {
  const std::byte* data = nullptr;
  DType dtype = DType::kF32;
  std::int64_t row_stride = 0, column_stride = 0;
};

struct ProductOptions {
  kernels::CacheSizes caches;
  int threads = 1;
};

// c[i · c_stride + j] = Σ_l a(i, l) · b(l, j) for (m, k)·(k, n). Sums are in one order for every
// number of threads. Factors of f64 only where T is double. Takes memory that threads keep.
template <typename T>
void multiply(const Factor& a, const Factor& b, std::int64_t m, std::int64_t k, std::int64_t n,
              T* c, std::int64_t c_stride, const ProductOptions& options);

extern template void multiply(const Factor&, const Factor&, std::int64_t, std::int64_t,
                              std::int64_t, float*, std::int64_t, const ProductOptions&);
extern template void multiply(const Factor&, const Factor&, std::int64_t, std::int64_t,
                              std::int64_t, double*, std::int64_t, const ProductOptions&);

}  // namespace assay::compiler
