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
// The same where a query is a column: rows of keys, `width` queries each, whole vectors of them.
struct ColumnSoftmax {
  // Score (l, t) is −∞ unless begin[t] ≤ l < end[t].
  void (*hide)(float* scores, std::int64_t keys, std::int64_t width, const std::int32_t* begin,
               const std::int32_t* end);
  // More keys: most[t] becomes the greatest score so far, scores their exponentials relative to it,
  // total[t] the sum of those so far; factor[t] is what sums of before are to be multiplied by.
  void (*advance)(float* scores, std::int64_t keys, std::int64_t width, float* most, float* total,
                  float* factor);
  // x(l, t) · factor[t], x(l, t) / by[t]
  void (*scale)(float* x, std::int64_t rows, std::int64_t width, const float* factor);
  void (*divide)(float* x, std::int64_t rows, std::int64_t width, const float* by);
};
const ColumnSoftmax& column_softmax();

const SoftmaxKernels<float>& softmax_kernels(float);
const SoftmaxKernels<double>& softmax_kernels(double);

}  // namespace assay::compiler
