// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tensor of cp(), wherever it is: what alternating least squares asks of it. Factors and the
// small systems are on the processor.

#include <vector>

#include "einsum/decompose/cp.h"
#include "einsum/decompose/matrix.h"

namespace assay::einsum {

// In the middle of its dtype's range (normalized.h): the tensor that was given is this one times
// 2^exponent.
template <typename T>
class CpTensor {
 public:
  virtual ~CpTensor() = default;
  virtual const std::vector<std::int64_t>& shape() const = 0;
  virtual double norm() const = 0;
  virtual int exponent() const = 0;
  virtual Matrix<T> gram(std::size_t mode) = 0;  // X_(n)·X_(n)ᵀ
  // Starts products at mode 0. The factors (extent × R each) are not owned.
  virtual void begin(const std::vector<Matrix<T>>& factors) = 0;
  // M(i, r) = Σ X(…i…) Π_{m≠mode} U_m(·, r) for the modes in turn. Between two calls, the factor of
  // the mode that was returned last may change, the others must not.
  virtual Matrix<T> next() = 0;
  // ‖X − Σ_r λ_r u_r ∘ v_r ∘ …‖.
  virtual double distance(const std::vector<T>& weights, const std::vector<Matrix<T>>& factors) = 0;
};

// Throws UserError where cp() does.
void check_cp(DType dtype, const Shape& shape, const CpOptions& options);

// As cp(); `options` were checked.
template <typename T>
CpResult decompose_cp(CpTensor<T>& x, const CpOptions& options);

}  // namespace assay::einsum
