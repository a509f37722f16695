// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A few rows times a matrix that is read once, at the speed of memory: f32 sums of f32, f16 or bf16
// elements, of the best instruction set of this machine.

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace assay::compiler {

inline constexpr int kMostGemvRows = 8;
// Rows are taken 1, 2, 4 or 8 at once: how many that is for so many.
constexpr int gemv_rows(std::int64_t rows) {
  return rows > 4 ? 8 : rows > 2 ? 4 : rows > 1 ? 2 : 1;
}

struct GemvKernels {
  // How many terms are taken at once: rows of `a` are padded with zeros to a multiple of it.
  std::int64_t step;
  // Rearranges `terms` f32 elements, a multiple of `step`, as dots() wants them for a matrix of
  // that dtype.
  void (*arrange)(DType dtype, const float* from, std::int64_t terms, float* to);
  // c[i · c_stride + j] = Σ_l a[i · padded + l] · b[j · b_stride + l] for i < rows, j < columns,
  // l < terms; b in elements of `dtype`. a has gemv_rows(rows) rows, what the further ones hold
  // does not matter.
  void (*dots)(DType dtype, int rows, const float* a, std::int64_t padded, const std::byte* b,
               std::int64_t b_stride, std::int64_t terms, std::int64_t columns, float* c,
               std::int64_t c_stride);
  // c[i · c_stride + j] += Σ_l a[i · a_stride + l] · b[l · b_stride + j], likewise; a as it is; c
  // has gemv_rows(rows) rows as well.
  void (*sums)(DType dtype, int rows, const float* a, std::int64_t a_stride, const std::byte* b,
               std::int64_t b_stride, std::int64_t terms, std::int64_t columns, float* c,
               std::int64_t c_stride);
};
const GemvKernels& gemv_kernels();

}  // namespace assay::compiler
