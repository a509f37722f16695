// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Inner loops that are compiled once for each instruction set (vector_kernels.cc, see
// CMakeLists.txt) and chosen when the program runs. kernels.h is their user.

#include "transport/term_block.h"

namespace assay::transport {

inline constexpr int kLeaf = 32;
inline constexpr int kPanelBytes = 256;  // of each column, in a panel of rows

template <typename T>
struct VectorKernels {
  // See combine_columns. `panel` has room for kPanelBytes·(inputs + outputs) bytes, aligned to 64.
  void (*combine)(int rows, const T* in, const TermsView<T>& terms, bool transposed, T* panel,
                  T* out);
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
