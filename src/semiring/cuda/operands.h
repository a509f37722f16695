// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The matrices of a product as the kernels see them.

#include "semiring/cuda/launch.h"
#include "semiring/cuda/matmul.h"

namespace assay::semiring::cuda {

template <typename T>
Result<T> result_of(const Matmul& q) {
  return {static_cast<T*>(q.c), q.c_strides.row, q.c_strides.column, q.c_strides.batch};
}
template <typename T>
Factor<T> left_of(const Matmul& q) {
  return {static_cast<const T*>(q.a), q.a_strides.row,       q.a_strides.column,
          q.a_strides.batch,          static_cast<int>(q.m), static_cast<int>(q.k)};
}
template <typename T>
Factor<T> right_of(const Matmul& q) {
  return {static_cast<const T*>(q.b), q.b_strides.column,    q.b_strides.row,
          q.b_strides.batch,          static_cast<int>(q.n), static_cast<int>(q.k)};
}

}  // namespace assay::semiring::cuda
