// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matrix products over any of the six algebras: C_ij = ⊕_k (A_ik ⊗ B_kj).

#include "semiring/algebra.h"
#include "semiring/problem.h"
#include "semiring/simd/options.h"
#include "tensor/tensor.h"
#include "tensor/view.h"

namespace assay::semiring {

struct MatmulOptions {
  Backend backend = Backend::kReference;
  SimdOptions simd;  // for kSimd alone
};

// Writes a ⊗ b to `out`. a is (…, m, k), b is (…, k, n), out is (…, m, n), with any strides; the
// leading axes of a and b are equal or broadcast as NumPy does it. The dtypes of a and b are equal:
// f32, f64, for real, log and euclidean also f16 and bf16 (accumulated in f32), for boolean bool
// alone; out has the same dtype, or f32 for f16 and bf16. k = 0 gives the zero of ⊕ everywhere.
// Throws UserError that names the algebra and the shapes or dtypes that do not fit, or says that
// out shares memory with an input (as overlap() sees it) or with itself.
MatmulStats matmul(Algebra algebra, const TensorView& a, const TensorView& b,
                   const MutableTensorView& out, const MatmulOptions& options = {});

// The same into a new tensor of the inputs' dtype.
Tensor matmul(Algebra algebra, const TensorView& a, const TensorView& b,
              const MatmulOptions& options = {});

}  // namespace assay::semiring
