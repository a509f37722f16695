// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Σ_r λ_r u_r ∘ v_r ∘ …, the tensor that weights and factors stand for, a cacheful at a time.

#include <vector>

#include "einsum/decompose/matrix.h"

namespace assay::einsum {

// The whole of it, row-major.
template <typename T>
std::vector<T> model_tensor(const std::vector<T>& weights, const std::vector<Matrix<T>>& factors);

// ‖X − model‖, without ever holding the model: one pass over X. The same for any number of threads.
template <typename T>
double distance_to_model(const DenseTensor<T>& x, const std::vector<T>& weights,
                         const std::vector<Matrix<T>>& factors, int threads);

}  // namespace assay::einsum
