// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matmul with the vector units of this machine. All algebras, f32 and f64 (boolean: bool), f16 and
// bf16 computed in f32, any strides.
//
//   real                plain_products.h     one multiply-add per pair
//   max_plus, min_plus  plain_products.h     an addition and a comparison per pair
//   boolean             plain_products.h     32 columns per word
//   log                 log_product.h        exponentials of the factors, one real product, the
//                                            logarithm; certified entry by entry
//   euclidean           euclidean_product.h  norms and one real product; certified likewise
//
// Results do not depend on the number of threads, and are bitwise equal from run to run.

#include "semiring/problem.h"
#include "semiring/simd/options.h"
#include "tensor/view.h"

namespace assay::semiring {

// `out` is as check_output() demands it and does not overlap the inputs.
MatmulStats simd_matmul(const MatmulProblem& problem, const MutableTensorView& out,
                        const SimdOptions& options);

}  // namespace assay::semiring
