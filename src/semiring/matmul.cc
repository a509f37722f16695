// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// The way of a matmul through the engine: check the inputs once, then hand the problem to one
// backend, which writes the output.
#include "semiring/matmul.h"

#include "semiring/ref/naive.h"
#include "semiring/ref/reference.h"
#include "semiring/simd/matmul.h"
#include "tensor/convert.h"

namespace assay::semiring {

MatmulStats matmul(Algebra algebra, const TensorView& a, const TensorView& b,
                   const MutableTensorView& out, const MatmulOptions& options) {
  const MatmulProblem problem = matmul_problem(algebra, a, b);
  check_output(problem, out);
  switch (options.backend) {
    case Backend::kReference:
      convert_into(reference_matmul(problem).view(), out);
      return {.entries = out.element_count()};
    case Backend::kNaive:
      convert_into(naive_matmul(problem).view(), out);
      return {.entries = out.element_count()};
    case Backend::kSimd:
      return simd_matmul(problem, out, options.simd);
  }
  throw InternalError("a Backend is one of its enumerators");
}

Tensor matmul(Algebra algebra, const TensorView& a, const TensorView& b,
              const MatmulOptions& options) {
  Tensor out(a.dtype(), matmul_problem(algebra, a, b).out_shape());
  matmul(algebra, a, b, out.mutable_view(), options);
  return out;
}

}  // namespace assay::semiring
