// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace assay::kernels {

// One side of a transposition: where it begins, how far apart its runs are, and its planes.
template <typename T>
struct TransposeSide {
  T* data;
  std::int64_t stride, plane;
};

// c[i·c.stride + j] = a[i + j·a.stride] for i < rows, j < columns, in each of the planes: whole
// runs are read, whole runs written.
template <typename T>
using TransposeKernel = void(std::int64_t planes, std::int64_t rows, std::int64_t columns,
                             TransposeSide<const T> a, TransposeSide<T> c);
TransposeKernel<float>* transpose_kernel(float);
TransposeKernel<double>* transpose_kernel(double);

}  // namespace assay::kernels
