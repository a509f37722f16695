// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What attention does to a row of scores, of the best instruction set of this machine.

#include <cstdint>

namespace assay::compiler {

template <typename T>
struct SoftmaxKernels {
  // The greatest; −∞ of nothing, NaN where any is.
  T (*greatest)(const T* x, std::int64_t count);
  // x[i] = e^(x[i] − shift); returns their sum.
  T (*exponentials)(T* x, std::int64_t count, T shift);
  // sums[i] = sums[i] · factor + more[i]
  void (*scale_and_add)(T* sums, T factor, const T* more, std::int64_t count);
};
const SoftmaxKernels<float>& softmax_kernels(float);
const SoftmaxKernels<double>& softmax_kernels(double);

}  // namespace assay::compiler
