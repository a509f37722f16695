// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "transport/system/operators.h"

namespace assay::transport {

// The structured elimination, one block at a time, in f64 or f32:
//
//   start();  for k = n_ξ … 1 { delta() is Δ_k;  invert();  delta() is Δ_k⁻¹;  descend(); }
//   delta() is Δ_0, not pinned.
//
// 2n³ + 4n²·(entries in a row) flops a step; three n×n arrays, kept from one start() to the next.
template <typename T>
class StructuredElimination {
 public:
  void start(const BlockSystem& system, double nu_hat, double epsi_hat);
  // Goes on from the Δ_k where another elimination has come to, in this precision.
  template <typename Other>
  void take_over(const StructuredElimination<Other>& other) {
    system_ = other.system_;
    nu_hat_ = other.nu_hat_;
    epsi_hat_ = other.epsi_hat_;
    k_ = other.k_;
    transposed_ = other.transposed_;
    rounded_ = true;
    delta_.assign(other.delta_.begin(), other.delta_.end());
  }
  // Δ_k⁻¹ in place of Δ_k: without pivoting, or by Cholesky where Δ_k is symmetric (f64). What
  // cannot be inverted becomes NaN or infinity.
  void invert();
  // Δ_{k−1} = D_{k−1} − U_{k−1} Δ_k⁻¹ L_k in place of Δ_k⁻¹, which goes to *inverse if that is
  // given, in exchange for its memory.
  void descend(std::vector<T>* inverse = nullptr);

  int k() const { return k_; }
  // The current matrix, n×n, or its transpose: each step turns the matrix over once, because terms
  // are applied to whole columns.
  std::vector<T>& delta() { return delta_; }
  bool transposed() const { return transposed_; }

 private:
  template <typename>
  friend class StructuredElimination;

  const BlockSystem* system_ = nullptr;
  double nu_hat_ = 0, epsi_hat_ = 0;
  int k_ = 0;
  bool transposed_ = false;
  bool rounded_ = false;  // taken over from less precision: symmetric to that precision only
  std::vector<T> delta_, turned_, scratch_;
  Combination<T> first_, second_;
};

extern template class StructuredElimination<double>;
extern template class StructuredElimination<float>;

}  // namespace assay::transport
