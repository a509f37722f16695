// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Filling tensors from a counter-based stream (base/philox.h), the same bits in every language and
// for every layout: element i, counted in row-major order, takes raw output i of the stream.

#include "base/philox.h"
#include "tensor/view.h"

namespace assay {

// Element i is uniform(stream[i], low, high), computed in double and then rounded once to the dtype
// (f16, bf16, f32, f64); rounding may reach `high` itself. A complex element i takes raw outputs
// 2i (real part) and 2i + 1 (imaginary part). Other dtypes are a bug: InternalError.
void fill_uniform(const MutableTensorView& view, const Philox& stream, double low, double high);

// Element i is uniform_below(stream[i], bound), in [0, bound), for integer dtypes and bool (bound
// at most 2). A bound of 0, or one whose values the dtype does not hold, is a bug: InternalError.
void fill_below(const MutableTensorView& view, const Philox& stream, std::uint64_t bound);

}  // namespace assay
