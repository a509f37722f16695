// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// From a pairwise contraction of tensors as they lie in memory to the kernel that computes it.
//
// Labels fall into four groups: batch (A, B, C), M (A, C), N (B, C), K (A, B). Every way to compute
// the step is written down with its predicted time, and the cheapest is taken:
//
//   gemm            one matrix product of the tensors as they lie
//   batched-gemm    one for each batch index
//   looped-gemm     one for each index of labels that do not fuse with their neighbours
//   transpose-gemm  copies of A, B or C in an order that fuses, and one of the above
//   gett            a product whose panels are packed straight from the tensors; A and B are never
//                   copied whole
//   gemv            matrix times vector, for each index of the other labels
//   dot, outer, hadamard, loops   plain loops

#include <string_view>
#include <vector>

#include "einsum/layout.h"
#include "einsum/time_model.h"
#include "kernels/blas/library.h"

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

struct Lowered {
  Kernel kernel = Kernel::kLoops;
  PairSize size;
  double bytes = 0;         // of A, B and C, each once
  double copied_bytes = 0;  // read and written by copies
  double workspace = 0;     // elements of copies that live during the step
  double packing = 0;       // elements of the kernel's own buffers, which outlive it
  double predicted_s = 0;
  double band = 1;
  int copies = 0;
  Work work;  // of the kernel, copies apart: what the prediction was made from

  // What happens, in this order. Copies that are not made have no elements.
  std::vector<Loop> pack_a, pack_b;                    // strides a: source, c: copy
  double packed_a = 0, packed_b = 0, temporary_c = 0;  // elements
  GemmForm gemm;
  GemvForm gemv;
  GettForm gett;
  std::vector<Loop> loops;
  std::vector<Loop> unpack_c;  // strides a: temporary, c: result
};

// A step: layouts of the operands and of the result. Labels of one operand are in the result or in
// the other operand. An operand's extent for a label is the result's.
struct PairTask {
  Layout a, b, c;
  DType dtype = DType::kF64;
  int threads = 1;
};

// Every way to compute the step, cheapest predicted time first; never empty.
std::vector<Lowered> lower_pair(const PairTask& task, const TimeModel& model);

// Groups of labels of a step.
struct Groups {
  std::vector<Label> batch, m, n, k;  // in the order of a (batch, m, k) and b (n)
};
Groups group_labels(const Layout& a, const Layout& b, const Layout& c);

std::int64_t extent_of(Label label, const PairTask& task);
// The labels of a group by falling stride in `like`.
std::vector<Label> in_order(const std::vector<Label>& group, const Layout& like);
// A tensor of the step's labels in this order, without gaps.
Layout dense_copy(const std::vector<Label>& order, const PairTask& task);

// Matrix products of the tensors as they lie, most fused first choice; nothing where no label of
// some group is contiguous as a matrix product needs it.
std::vector<GemmForm> gemm_forms(const PairTask& task, const Groups& groups);
// Matrix times vector, where M or N is empty; nothing where the matrix is not contiguous.
std::vector<GemvForm> gemv_forms(const PairTask& task, const Groups& groups);
// Products packed from the tensors, either operand on the left; nothing where M or N is empty.
struct GettChoice {
  GettForm form;
  Layout product;  // empty: the rows and columns of C are those of a matrix; else unpacked to C
};
std::vector<GettChoice> gett_forms(const PairTask& task, const Groups& groups);

}  // namespace assay::einsum
