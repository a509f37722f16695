// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matricised tensor times Khatri–Rao product, for all modes in turn, by a dimension tree: the modes
// are halved again and again, and a half's partial result serves all of its modes. Two products
// with the whole tensor a sweep, whatever its order, and no Khatri–Rao product is ever formed.

#include <functional>
#include <vector>

#include "einsum/matrix.h"

namespace assay::einsum {

// Calls update(mode, M) for every mode in order, where M(i, r) = Σ X(…i…) Π_{m≠mode} U_m(·, r) with
// the factors as they are at that moment: update may change factors[mode], and M itself.
template <typename T>
void for_each_mttkrp(const DenseTensor<T>& x, std::vector<Matrix<T>>& factors,
                     const std::function<void(std::size_t mode, Matrix<T>& m)>& update,
                     int threads = 1);

}  // namespace assay::einsum
