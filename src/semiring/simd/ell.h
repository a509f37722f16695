// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Message passing over padded neighbour lists with the vector units of this machine.
//
// Each thread takes the next few rows that nobody has taken, lists their present slots, and reduces
// tiles of features in registers while the rows of x that come next are being fetched.
//
// ell_edge_aggregate multiplies by W where it is cheaper:
//   sum  Σ_p v_p·x_p first, then times W, unless W has fewer rows than columns, or holds NaN or
//        infinities; a row whose sum is not finite is computed again term by term
//   max  W·x for every source, then the reduction
// Results do not depend on the number of threads.

#include "semiring/problem.h"
#include "semiring/simd/options.h"
#include "tensor/view.h"

namespace assay::semiring {

// Contracts as in semiring/ell.h; `out` is as check_output() demands it. False if the indices were
// not all seen to be right: check_indices() says which one is not, and `out` holds nothing.
bool simd_ell_matmul(Algebra algebra, const EllProblem& problem, const MutableTensorView& out,
                     const SimdOptions& options);
bool simd_ell_edge_aggregate(const EdgeProblem& problem, const MutableTensorView& out,
                             const SimdOptions& options);

}  // namespace assay::semiring
