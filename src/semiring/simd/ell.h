// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Message passing over padded neighbour lists with the vector units of this machine.
//
// Each thread owns a range of rows that holds its share of the edges (not of the rows: degrees may
// follow a power law), takes them a few at a time, lists their present slots, and reduces tiles of
// features in registers while the rows of x that come next are being fetched.
//
// ell_edge_aggregate multiplies by W where it is cheaper:
//   sum  Σ_p v_p·x_p first, then times W, unless W has fewer rows than columns, or holds NaN or
//        infinities; a row whose sum is not finite is computed again term by term
//   max  W·x for every source, then the reduction
// Results do not depend on the number of threads.

#include "semiring/problem.h"
#include "semiring/simd/matmul.h"
#include "tensor/view.h"

namespace assay::semiring {

// Contracts as in semiring/ell.h; `out` is as check_output() demands it.
void simd_ell_matmul(Algebra algebra, const EllProblem& problem, const MutableTensorView& out,
                     const SimdOptions& options);
void simd_ell_edge_aggregate(const EdgeProblem& problem, const MutableTensorView& out,
                             const SimdOptions& options);

}  // namespace assay::semiring
