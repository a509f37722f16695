// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernels that a pairwise contraction can be computed by (lower/lower.h says what each is), and
// the tensors as matrix products see them.

#include <string_view>
#include <vector>

#include "einsum/labels/layout.h"
#include "kernels/blas/op.h"

namespace assay::einsum {

enum class Kernel {
  kCopy,  // one tensor: permuted, summed over some labels
  kDot,
  kOuter,
  kHadamard,
  kLoops,
  kGemv,
  kGemm,
  kBatchedGemm,
  kLoopedGemm,
  kTransposeGemm,
  kGett,
};
inline constexpr int kKernels = 11;
std::string_view name_of(Kernel kernel);

// C = op(A)·op(B) for each index of `free`, summed over `summed`; row-major.
struct GemmForm {
  bool swapped = false;  // computes Cᵀ = BᵀAᵀ: op_a, lda and the strides a are those of B
  blas::Op op_a = blas::Op::kNone, op_b = blas::Op::kNone;
  int m = 1, n = 1, k = 1;
  int lda = 1, ldb = 1, ldc = 1;
  std::vector<Loop> free, summed;  // strides a, b, c as the operands were given
};

// y = op(A)·x for each index of `free`, summed over `summed`.
struct GemvForm {
  bool swapped = false;  // the matrix is B
  blas::Op op = blas::Op::kNone;
  int rows = 1, columns = 1, ld = 1;  // as the matrix lies in memory
  int incx = 1, incy = 1;
  std::vector<Loop> free, summed;
};

// The four groups as loops, slowest first, for a product whose panels are packed from the tensors.
// Rows m and columns n of the result are indices of a row-major matrix.
struct GettForm {
  bool swapped = false;  // the left operand, and the strides a, are those of B
  std::vector<Loop> batch, m, n, k;
};

}  // namespace assay::einsum
