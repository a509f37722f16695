// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Vectors of all cases: for each unknown the values of both sources side by side. Steps from one
// case to the next are in unknowns. Cases that are not open (DeviceCases) are left alone.

#include "transport/cuda/combine.h"
#include "transport/solver/whole.h"

namespace assay::transport::cuda {

struct Vectors {
  double* data = nullptr;
  std::int64_t step = 0;
};

// y = M x or Mᵀ x, or y += that.
void multiply(const Matrices& m, bool transposed, const Vectors& x, bool adding, const Vectors& y,
              const std::int32_t* open, kernels::cuda::Stream stream);
// y = base + factor·(terms) x, where x and base may be empty: zeros. With `pinned` row 0 of y is
// that of base.
void add_terms(const ScaledTerms& terms, double factor, const Vectors& x, const Vectors& base,
               bool pinned, const Vectors& y, const DeviceCases& cases,
               kernels::cuda::Stream stream);
// x as columns of n, one for each source, case after case; and back.
void to_columns(const Vectors& x, int n, double* columns, int cases, kernels::cuda::Stream stream);
void from_columns(const double* columns, int n, const Vectors& x, int cases,
                  kernels::cuda::Stream stream);

// All blocks of a case lie one behind the other (DeviceSystem::offset).
// x = the sources, with zero in the pinned row.
void fill_sources(const DeviceSystem& system, const Vectors& x, int cases,
                  kernels::cuda::Stream stream);
// z = x + y, `unknowns` of each case.
void add(const Vectors& x, const Vectors& y, const Vectors& z, std::int64_t unknowns,
         const DeviceCases& cases, kernels::cuda::Stream stream);
// to = from for the cases whose flag is not zero.
void copy_where(const std::int32_t* flags, const Vectors& from, const Vectors& to,
                std::int64_t unknowns, int cases, kernels::cuda::Stream stream);

// What whole.h wants to know of block k of a case, and its parts of c_i·f_j.
struct DeviceSums {
  BlockSums sums;
  double value[2][2];  // [functional][source]
};
// r = s − A f and the sums: sums[k + (n_ξ+1)·case].
void assess(const DeviceSystem& system, const DeviceCases& cases, const Vectors& f,
            const Vectors& r, DeviceSums* sums, kernels::cuda::Stream stream);

}  // namespace assay::transport::cuda
