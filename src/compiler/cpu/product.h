// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matrix products whose factors have any floating-point dtype and any strides, with sums in f32 or
// f64.

#include <cstddef>
#include <cstdint>

#include "kernels/bf16/pair_units.h"
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
  // Panels of both factors are packed: never the forms for x Wᵀ (linear_product.h) and for `unit`,
  // which are faster as a rule. Few rows or columns are multiplied by a matrix where it lies
  // (gemv_kernels.h) all the same: packing costs several times what they do.
  bool packs_both = false;
  // For products of bf16 by bf16 (pair_product.h); null: they are widened to f32.
  const kernels::PairUnit* unit = nullptr;
};

// Sums of rows [row, row + rows) × columns [column, column + columns): element (i, j) of them at
// sums[i · stride + j].
template <typename T>
struct SumsBlock {
  std::int64_t row, rows, column, columns;
  const T* sums;
  std::int64_t stride;
  int worker;  // below ProductOptions::threads; no two at once have the same
};
template <typename T>
class SumsTaker {
 public:
  virtual ~SumsTaker() = default;
  // From several threads at once.
  virtual void take(const SumsBlock<T>& block) const noexcept = 0;
};

// Where sums go: to memory, element (i, j) to data[i · stride + j]; or block by block, while they
// are in a cache, to who takes them: every element once.
template <typename T>
struct SumsSink {
  T* data = nullptr;
  std::int64_t stride = 0;
  const SumsTaker<T>* taker = nullptr;
};

// How a product with sums in f32 is made; those in f64 are packed.
enum class ProductForm : std::uint8_t {
  kFewRows,     // gemv_kernels.h
  kFewColumns,  // the same, of both factors transposed
  kPaired,      // pair_product.h
  kLinear,      // linear_product.h
  kPacked,      // panels of both factors
};
ProductForm form_of(const Factor& a, const Factor& b, std::int64_t m, std::int64_t k,
                    std::int64_t n, const ProductOptions& options);

// Σ_l a(i, l) · b(l, j) for (m, k)·(k, n). Sums are in one order for every number of threads.
// Factors of f64 only where T is double. Takes memory that threads keep.
template <typename T>
void multiply(const Factor& a, const Factor& b, std::int64_t m, std::int64_t k, std::int64_t n,
              const SumsSink<T>& sink, const ProductOptions& options);

extern template void multiply(const Factor&, const Factor&, std::int64_t, std::int64_t,
                              std::int64_t, const SumsSink<float>&, const ProductOptions&);
extern template void multiply(const Factor&, const Factor&, std::int64_t, std::int64_t,
                              std::int64_t, const SumsSink<double>&, const ProductOptions&);

}  // namespace assay::compiler
