// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Gradients of message passing (ell.h): from dL/dout to those of weights, sources and W.
//
// Of ell_matmul, with s = idx(i,p) and sums over what is not named; absent slots take and give 0:
//   real       dv_ip = Σ_f dout_if·x_sf,  dx_sf = Σ dout_if·v_ip
//   log        dv_ip = Σ_f dout_if·w,     dx_sf = Σ dout_if·w,  w = exp(v_ip + x_sf − out_if);
//              0 where out_if is −∞
//   max_plus   dout_if goes to the first present slot whose term is out_if (the first NaN, where
//   min_plus   out_if is NaN)
//   euclidean  dv_ip = Σ_f dout_if·(v_ip − x_sf)/out_if,  dx_sf = −Σ …; 0 where out_if is 0
//
// Of ell_edge_aggregate, with messages y = x·Wᵀ: the gradients of real for sum, for max those of
// the first slot whose v_ip·y_so is largest (the first NaN); then dx = dy·W and dW = dyᵀ·x.

#include "semiring/ell.h"
#include "tensor/tensor.h"
#include "tensor/view.h"

namespace assay::semiring {

struct EllGradients {
  Tensor v, x;  // of the shapes and the dtype of the inputs
};

// v, idx and x as in ell_matmul(), f32 or f64; out is what it gives for them, dout has its shape
// and dtype. One thread. Throws UserError: boolean, shapes, dtypes or indices that do not fit.
EllGradients ell_matmul_gradients(Algebra algebra, const TensorView& v, const TensorView& idx,
                                  const TensorView& x, const TensorView& out,
                                  const TensorView& dout);

struct EdgeGradients {
  Tensor v, x, w;
};

// The same for ell_edge_aggregate(). Products with W take options; memory: y and dy.
EdgeGradients ell_edge_gradients(EdgeReduce reduce, const TensorView& v, const TensorView& idx,
                                 const TensorView& x, const TensorView& w, const TensorView& dout,
                                 const EllOptions& options = {});

}  // namespace assay::semiring
