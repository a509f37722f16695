// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/cuda/invert.h"
#include "transport/cuda/terms.h"

namespace assay::transport::cuda {

// The cases of a batch on the device.
struct DeviceCases {
  int count = 0;
  const double *nu_hat = nullptr, *epsi_hat = nullptr;
  const std::int32_t* open = nullptr;  // 0: nothing is to be done for this one; null: all are open
};

// Column o of out ← Σ_s factor·weight·(column s of in), `rows` rows; with `turned`, that is row o
// of out. Every matrix of the batch; those of `in` have terms.inputs columns.
void combine_columns(const ScaledTerms& terms, double factor, int rows, const Matrices& in,
                     bool turned, const Matrices& out, kernels::cuda::Stream stream);
// Every matrix += D_k of its case, or its transpose. `collisions`: ½k(k+1).
void add_diagonal_block(const DiagonalEntries& entries, double collisions, const DeviceCases& cases,
                        bool transposed, const Matrices& out, kernels::cuda::Stream stream);
// Makes row 0 of every matrix (column 0 of a transposed one) that of the identity.
void pin_first_row(bool transposed, const Matrices& out, kernels::cuda::Stream stream);
void fill_zero(const Matrices& out, kernels::cuda::Stream stream);

}  // namespace assay::transport::cuda
