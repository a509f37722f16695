// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Inner loops that are compiled once for each instruction set (vector_kernels.cc, see
// CMakeLists.txt) and chosen when the program runs. kernels.h is their user.

#include <cstdint>

namespace assay::transport {

inline constexpr int kLeaf = 32;

template <typename T>
struct VectorKernels {
  // Column c of out ← Σ_w weight[c·width + w] · (column source[c·width + w] of in); `rows` rows.
  void (*combine)(int rows, const T* in, int outputs, int width, const std::int32_t* source,
                  const T* weight, T* out);
  // Inverts a kLeaf×kLeaf block in place by Gauss–Jordan with row exchanges inside the block.
  void (*invert_leaf)(T* a);
};

namespace baseline {
extern const VectorKernels<double> kDouble;
extern const VectorKernels<float> kFloat;
}  // namespace baseline
#if defined(__x86_64__)
namespace avx2 {
extern const VectorKernels<double> kDouble;
extern const VectorKernels<float> kFloat;
}  // namespace avx2
namespace avx512 {
extern const VectorKernels<double> kDouble;
extern const VectorKernels<float> kFloat;
}  // namespace avx512
#endif

}  // namespace assay::transport
