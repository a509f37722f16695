// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/solver/structured.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/blas/lapack.h"
#include "transport/system/block.h"

namespace assay::transport {

template <typename T>
void StructuredElimination<T>::start(const BlockSystem& system, double nu_hat, double epsi_hat) {
  system_ = &system;
  nu_hat_ = nu_hat;
  epsi_hat_ = epsi_hat;
  k_ = system.n_xi;
  transposed_ = rounded_ = false;
  const int n = system.block_size(k_);
  delta_.assign(elements(n, n), T{0});
  add_diagonal_block(system, k_, nu_hat, epsi_hat, transposed_, delta_);
}

template <typename T>
void StructuredElimination<T>::invert() {
  const int n = system_->block_size(k_);
  if constexpr (std::is_same_v<T, double>) {
    if (system_->symmetric && epsi_hat_ == 0 && !rounded_) {
      if (!blas::invert_spd(n, delta_.data(), n)) {
        std::ranges::fill(delta_, std::numeric_limits<double>::quiet_NaN());
      }
      return;
    }
  }
  invert_without_pivoting(n, delta_.data(), scratch_);
}

// Not transposed:  Y = Δ_k⁻¹ → Y L → (Y L)ᵀ → (Y L)ᵀ Uᵀ = (U Y L)ᵀ.
// Transposed:      Yᵀ → Yᵀ Uᵀ → U Y → U Y L.
template <typename T>
void StructuredElimination<T>::descend(std::vector<T>* inverse) {
  const int n = system_->block_size(k_), below = system_->block_size(k_ - 1);
  if (transposed_) {
    system_->upper_by_row(k_ - 1, 1, first_);
    system_->lower_by_column(k_, -1, second_);
  } else {
    system_->lower_by_column(k_, 1, first_);
    system_->upper_by_row(k_ - 1, -1, second_);
  }
  turned_.resize(elements(below, n));
  combine_columns(n, delta_.data(), first_, true, turned_.data());
  if (inverse != nullptr) inverse->swap(delta_);
  delta_.resize(elements(below, below));
  combine_columns(below, turned_.data(), second_, false, delta_.data());
  transposed_ = !transposed_;
  --k_;
  add_diagonal_block(*system_, k_, nu_hat_, epsi_hat_, transposed_, delta_);
}

template class StructuredElimination<double>;
template class StructuredElimination<float>;

}  // namespace assay::transport
