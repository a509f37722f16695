// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Gradients of matmul: from dL/dC to dL/dA and dL/dB, for real, log, max_plus and euclidean.
//
//   real       dA = dC·Bᵀ,  dB = Aᵀ·dC
//   log        dA_ik = Σ_j dC_ij·w_ikj,  dB_kj = Σ_i dC_ij·w_ikj,  w_ikj = exp(A_ik + B_kj − C_ij):
//              the softmax weights of the terms; 0 where C_ij is −∞
//   max_plus   dC_ij goes to the first k whose term is C_ij (the first NaN, where C_ij is NaN)
//   euclidean  dA_ik = Σ_j dC_ij·(A_ik − B_kj)/C_ij,  dB_kj = −Σ_i …; 0 where C_ij is 0
//
// log and euclidean are made of real products where no accuracy is lost by that, as in
// simd/log_product.h and simd/euclidean_product.h, and of their terms elsewhere.

#include "semiring/matmul.h"
#include "tensor/tensor.h"
#include "tensor/view.h"

namespace assay::semiring {

struct MatmulGradients {
  Tensor a, b;  // of the shapes and the dtype of the inputs
};

// a and b as in matmul(), f32 or f64; c is their product as matmul() gives it, dc has its shape and
// dtype. Batch axes that matmul() repeats are summed over. Real products take options.backend.
// Memory: about three matrices of each kind for one batch. Throws UserError: an algebra without
// gradients, shapes or dtypes that do not fit.
MatmulGradients matmul_gradients(Algebra algebra, const TensorView& a, const TensorView& b,
                                 const TensorView& c, const TensorView& dc,
                                 const MatmulOptions& options = {});

}  // namespace assay::semiring
