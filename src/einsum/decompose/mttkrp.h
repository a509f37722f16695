// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matricised tensor times Khatri–Rao product, for the modes in turn, sweep after sweep.
//
// Updates of factors go round: 0, 1, …, N−1, 0, … The product of the whole tensor with the factor
// updated last is good until that factor changes again, and that is N−1 updates later, wherever a
// sweep ends in between. So N−1 updates share one product with the tensor: N/(N−1) a sweep instead
// of N, or of the two that a tree within each sweep needs. Below that product the modes are halved
// again and again, a half's partial result serves all of its modes, and no Khatri–Rao product is
// ever formed. What comes out is the same as without sharing, but for the order of sums.

#include <vector>

#include "einsum/decompose/matrix.h"
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
  // A tensor over some modes, in the tensor's order, with the components as its last axis, padded.
  struct Partial {
    std::vector<std::size_t> modes;    // in the order of memory
    std::vector<std::size_t> updates;  // the same in the order of their updates
    Workspace::Buffer data;
  };

  Partial root(std::size_t mode);
  Partial without(const Partial& y, const std::vector<std::size_t>& gone);
  void multiply(std::size_t mode, T* to);
  const T* padded(std::size_t mode);

  const DenseTensor<T>& x_;
  const std::vector<Matrix<T>>& factors_;
  std::int64_t rank_, columns_;
  int threads_, products_ = 0;
  std::size_t turn_ = 0;
  std::vector<T> pad_;
  Workspace workspace_;
  std::vector<Partial> stack_;  // each made from the one before it
};

}  // namespace assay::einsum
