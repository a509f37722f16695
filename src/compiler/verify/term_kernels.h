// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sums that bounds of matrix products are made of, of the best instruction set of this machine:
// four for each multiplication of the product itself, which is where verification's time goes.

#include <cstdint>

#include "compiler/verify/element_bound.h"

namespace assay::compiler {

struct TermKernels {
  static constexpr std::int64_t kStep = 8;  // terms come in multiples of it: zeros add nothing
  static constexpr int kRight = 4;          // rows of the right factor at once
  // `left` is one row: |x|, x², bound and deviation² of x, `terms` each, one after the other.
  // `right` is kRight rows of |y|, which is exact. Adds to sums[j] what comes of right's row j.
  void (*add)(const double* left, const double* right, std::int64_t terms, TermSums* sums);
};
const TermKernels& term_kernels();

}  // namespace assay::compiler
