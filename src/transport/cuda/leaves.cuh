// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The leaves of an inversion with pivots inside of them. For .cu files.

#include "transport/cuda/invert.h"

namespace assay::transport::cuda {

inline constexpr int kLeaf = 64;  // columns

// Gauss–Jordan of the columns J = [j, j + width), width ≤ kLeaf: A_JJ⁻¹ in the rows J, −A_IJ A_JJ⁻¹
// in the others. `leaves` has room for kLeaf² numbers of each matrix.
void eliminate_leaves(const Matrices& a, int j, int width, double* leaves,
                      kernels::cuda::Stream stream);

}  // namespace assay::transport::cuda
