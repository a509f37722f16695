// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "semiring/problem.h"
#include "tensor/view.h"

namespace assay::semiring::simd {

// out_i = ⊕_p v_ip · (W x_idx(i,p)); see ell.h. All of dtype T (float, double), the rows of x and
// of out contiguous. False if an index is neither −1 nor a row of x.
template <typename T>
bool aggregate_edges(EdgeReduce reduce, const TensorView& v, const TensorView& idx,
                     const TensorView& x, const TensorView& w, const MutableTensorView& out,
                     int threads);

}  // namespace assay::semiring::simd
