// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matricised tensor times Khatri–Rao product, for the modes in turn, sweep after sweep.
//
// N−1 updates share one product with the tensor (mttkrp_tree.h), and no Khatri–Rao product is ever
// formed. What comes out is the same as without sharing, but for the order of sums.

#include <vector>

#include "einsum/decompose/matrix.h"
#include "einsum/decompose/mttkrp_tree.h"
#include "einsum/kernels/workspace.h"

namespace assay::einsum {

template <typename T>
class Mttkrp {
 public:
  // x and factors (extent × R each, two modes or more) are not owned. Between calls of next(), the
  // factor of the mode that was returned last may change, the others must not.
  Mttkrp(const DenseTensor<T>& x, const std::vector<Matrix<T>>& factors, int threads = 1);

  // M(i, r) = Σ X(…i…) Π_{m≠mode} U_m(·, r) for the mode whose turn it is: 0 at the first call.
  Matrix<T> next();

  // Products with the whole tensor so far.
  int products() const { return products_; }

 private:
  using Data = Workspace::Buffer;  // components are padded

  Data root(std::size_t gone);
  Data without(const Data& y, const std::vector<std::size_t>& modes, std::size_t gone);
  void multiply(std::size_t mode, T* to);
  const T* padded(std::size_t mode);

  const DenseTensor<T>& x_;
  const std::vector<Matrix<T>>& factors_;
  std::int64_t rank_, columns_;
  int threads_, products_ = 0;
  std::vector<T> pad_;
  Workspace workspace_;
  MttkrpTree<Data> tree_;
};

}  // namespace assay::einsum
