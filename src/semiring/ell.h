// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Message passing over padded neighbour lists (ELL): vertex i has `slots` slots, slot p names the
// source idx_ip (an int32 row of x, or −1: absent) with weight v_ip.
//
// A row whose slots are all absent gives the zero of ⊕, as an empty ⊕ must: 0 for sum, −∞ for max,
// and finish(zero) of the algebra in ell_matmul. What v holds in an absent slot is never looked at.
// NaN in a present slot or in its source propagates, also through max.

#include "semiring/algebra.h"
#include "semiring/problem.h"
#include "semiring/simd/options.h"
#include "tensor/tensor.h"
#include "tensor/view.h"

namespace assay::semiring {

struct EllOptions {
  Backend backend = Backend::kReference;
  SimdOptions simd;  // for kSimd alone
};

// out_if = ⊕_p v_ip ⊗ x_{idx(i,p) f}. v and idx are (rows, slots), x is (sources, features), out is
// (rows, features), any strides. dtypes as in matmul.h. out must not overlap the inputs.
// Throws UserError: shapes or dtypes that do not fit, or the first index out of range with its row,
// slot and value.
void ell_matmul(Algebra algebra, const TensorView& v, const TensorView& idx, const TensorView& x,
                const MutableTensorView& out, const EllOptions& options = {});

// out_i = ⊕_p v_ip · (W x_{idx(i,p)}), ⊕ = sum or max over the slots. W is (outputs, features), out
// is (rows, outputs), the rest as above; f16 and bf16 (accumulated in f32), f32, f64.
void ell_edge_aggregate(EdgeReduce reduce, const TensorView& v, const TensorView& idx,
                        const TensorView& x, const TensorView& w, const MutableTensorView& out,
                        const EllOptions& options = {});

}  // namespace assay::semiring
