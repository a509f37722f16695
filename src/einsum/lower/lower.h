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

#include <vector>

#include "einsum/kernels/forms.h"
#include "einsum/kernels/time_model.h"
#include "einsum/lower/pair_task.h"

namespace assay::einsum {

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
  int lanes = 1;  // threads of a device that share one element of the result (device_nest.h)
  std::vector<Loop> unpack_c;  // strides a: temporary, c: result
};

// Every way to compute the step, cheapest predicted time first; never empty.
std::vector<Lowered> lower_pair(const PairTask& task, const TimeModel& model);

}  // namespace assay::einsum
