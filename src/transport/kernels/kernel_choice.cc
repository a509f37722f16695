// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/kernels/kernel_choice.h"

#include <cstddef>

namespace assay::transport {
namespace {

#define ASSAY_VECTOR(set) \
  { set::combine<T>, set::invert_leaf<T>, set::multiply_leaf<T> }
#define ASSAY_FACTOR(set) \
  { set::factor_panel, set::invert_triangle, set::apply_lower_leaf }

#if defined(__x86_64__)
#define ASSAY_SETS(entry) \
  { entry(avx512), entry(avx2), entry(baseline) }
// How many of the sets, from the front, are too new for this processor.
std::size_t too_new() {
  static const std::size_t count =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
          ? 0
      : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 1
                                                                        : 2;
  return count;
}
#else
#define ASSAY_SETS(entry) \
  { entry(baseline) }
std::size_t too_new() { return 0; }
#endif

template <typename T>
constexpr VectorKernels<T> kVector[] = ASSAY_SETS(ASSAY_VECTOR);
constexpr FactorKernels kFactor[] = ASSAY_SETS(ASSAY_FACTOR);

}  // namespace

template <typename T>
std::span<const VectorKernels<T>> all_vector_kernels() {
  return std::span<const VectorKernels<T>>(kVector<T>).subspan(too_new());
}
template std::span<const VectorKernels<double>> all_vector_kernels();
template std::span<const VectorKernels<float>> all_vector_kernels();

std::span<const FactorKernels> all_factor_kernels() {
  return std::span<const FactorKernels>(kFactor).subspan(too_new());
}

}  // namespace assay::transport
