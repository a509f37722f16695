// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "compiler/reference/long_loops.h"

#include <bit>
#include <cmath>

// Sanitisers are not ready yet when the loader asks which of the clones to take.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(ASSAY_SANITIZED)
#define ASSAY_CLONED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ASSAY_CLONED
#endif

namespace assay::compiler {
namespace {

template <typename T>
[[gnu::always_inline]] inline void add_products_of(const T* x, const T* y, std::int64_t count,
                                                   double* parts) {
  double sums[kSumParts];
  for (std::int64_t part = 0; part < kSumParts; ++part) sums[part] = parts[part];
  for (std::int64_t k = 0; k < count; k += kSumParts) {
    for (std::int64_t part = 0; part < kSumParts; ++part) {
      const T product = x[k + part] * y[k + part];
      sums[part] += static_cast<double>(product);
    }
  }
  for (std::int64_t part = 0; part < kSumParts; ++part) parts[part] = sums[part];
}

template <typename T>
[[gnu::always_inline]] inline void widen_bfloats(const BFloat16* x, std::int64_t count, T* to) {
  for (std::int64_t k = 0; k < count; ++k) {
    to[k] = static_cast<T>(std::bit_cast<float>(std::uint32_t{x[k].bits} << 16));
  }
}

}  // namespace

ASSAY_CLONED void add_products(const float* x, const float* y, std::int64_t count, double* parts) {
  add_products_of(x, y, count, parts);
}
ASSAY_CLONED void add_products(const double* x, const double* y, std::int64_t count,
                               double* parts) {
  add_products_of(x, y, count, parts);
}

ASSAY_CLONED void widen(const BFloat16* x, std::int64_t count, float* to) {
  widen_bfloats(x, count, to);
}
ASSAY_CLONED void widen(const BFloat16* x, std::int64_t count, double* to) {
  widen_bfloats(x, count, to);
}
ASSAY_CLONED void widen(const float* x, std::int64_t count, double* to) {
  for (std::int64_t k = 0; k < count; ++k) to[k] = static_cast<double>(x[k]);
}

ASSAY_CLONED void widen_sizes(const float* x, std::int64_t count, double* to) {
  for (std::int64_t k = 0; k < count; ++k) to[k] = std::abs(static_cast<double>(x[k]));
}
ASSAY_CLONED void widen_sizes(const double* x, std::int64_t count, double* to) {
  for (std::int64_t k = 0; k < count; ++k) to[k] = std::abs(x[k]);
}

}  // namespace assay::compiler
