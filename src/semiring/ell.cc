// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "semiring/ell.h"

#include "semiring/ref/naive.h"
#include "semiring/ref/reference.h"
#include "semiring/simd/ell.h"
#include "tensor/convert.h"

namespace assay::semiring {

void ell_matmul(Algebra algebra, const TensorView& v, const TensorView& idx, const TensorView& x,
                const MutableTensorView& out, const EllOptions& options) {
  const EllProblem problem = ell_problem(algebra, v, idx, x);
  check_output(out, Shape{problem.rows, problem.features}, x.dtype(), name_of(algebra),
               "ell_matmul");
  const auto check = [&] { check_indices(problem, name_of(algebra), "ell_matmul"); };
  if (options.backend != Backend::kSimd) check();
  switch (options.backend) {
    case Backend::kReference:
      convert_into(reference_ell_matmul(algebra, problem).view(), out);
      return;
    case Backend::kNaive:
      convert_into(naive_ell_matmul(algebra, problem).view(), out);
      return;
    case Backend::kSimd:
      if (!simd_ell_matmul(algebra, problem, out, options.simd)) check();
      return;
  }
  throw InternalError("a Backend is one of its enumerators");
}

void ell_edge_aggregate(EdgeReduce reduce, const TensorView& v, const TensorView& idx,
                        const TensorView& x, const TensorView& w, const MutableTensorView& out,
                        const EllOptions& options) {
  const EdgeProblem problem = edge_problem(reduce, v, idx, x, w);
  check_output(out, Shape{problem.ell.rows, problem.outputs}, x.dtype(), name_of(reduce),
               "ell_edge_aggregate");
  const auto check = [&] { check_indices(problem.ell, name_of(reduce), "ell_edge_aggregate"); };
  if (options.backend != Backend::kSimd) check();
  switch (options.backend) {
    case Backend::kReference:
      convert_into(reference_ell_edge_aggregate(problem).view(), out);
      return;
    case Backend::kNaive:
      convert_into(naive_ell_edge_aggregate(problem).view(), out);
      return;
    case Backend::kSimd:
      if (!simd_ell_edge_aggregate(problem, out, options.simd)) check();
      return;
  }
  throw InternalError("a Backend is one of its enumerators");
}

}  // namespace assay::semiring
