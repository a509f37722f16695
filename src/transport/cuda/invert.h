// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cuda/libraries.h"

namespace assay::transport::cuda {

// Matrices of a batch, column after column: element (r, c) of matrix i is data[i·step + r + c·ld].
struct Matrices {
  double* data = nullptr;
  int n = 0, ld = 0;
  std::int64_t step = 0;
  int count = 0;
};

// Inverts the matrices of a batch in place, as kernels/kernels.h does one: Gauss–Jordan by halves,
// all of it products with n rows by cuBLAS but for leaves. Pivots are searched inside the leaves of
// 64, or, exchanging rows, in all rows that are left. What cannot be inverted becomes NaN or
// infinity. 2n³ flops a matrix.
class BatchedInverse {
 public:
  // For matrices of at most so many rows and so many of them; memory is taken from `memory`.
  BatchedInverse(int most_rows, int most_matrices, kernels::cuda::Memory& memory,
                 kernels::cuda::Stream stream, const kernels::cuda::Cublas& cublas);
  static double bytes_of_matrix(int rows);
  void invert(const Matrices& a, bool exchanging);

 private:
  void eliminate(const Matrices& a, int j, int width, bool exchanging);
  void tell(const Matrices& a, int j, int width, int k, int count, bool exchanging);

  kernels::cuda::Stream stream_;
  const kernels::cuda::Cublas* cublas_;
  int most_rows_;
  double* rows_ = nullptr;    // rows J of other columns, on their way
  double* leaves_ = nullptr;  // inverses of 64×64
  std::int32_t* pivots_ = nullptr;
};

}  // namespace assay::transport::cuda
