// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tensors of tucker(), wherever they are: what its sweeps ask of them. Factors and their
// eigenproblems are on the processor.

#include <memory>
#include <vector>

#include "einsum/decompose/matrix.h"
#include "einsum/decompose/tucker.h"

namespace assay::einsum {

template <typename T>
class TuckerTensor {
 public:
  virtual ~TuckerTensor() = default;
  virtual const std::vector<std::int64_t>& shape() const = 0;
  // Mode n multiplied by uᵀ (u: extent × r), or by u (u: r × extent). What comes out may lie where
  // that of an earlier call with the same arguments but for u's numbers lay.
  virtual std::unique_ptr<TuckerTensor> multiplied(std::size_t mode, const Matrix<T>& u,
                                                   bool transpose_u) const = 0;
  virtual Matrix<T> gram(std::size_t mode) const = 0;        // X_(n)·X_(n)ᵀ
  virtual DenseTensor<T> to_host() const = 0;                // valid while this tensor is
  virtual double distance(const TuckerTensor& y) const = 0;  // ‖X − Y‖, of one place and shape
};

// Throws UserError where tucker() does.
void check_tucker(DType dtype, const Shape& shape, const TuckerOptions& options);

// As tucker(), of x·2^exponent; x has this norm and is in the middle of its dtype's range
// (normalized.h). `options` were checked.
template <typename T>
TuckerResult decompose_tucker(const TuckerTensor<T>& x, double norm, int exponent,
                              const TuckerOptions& options);

}  // namespace assay::einsum
