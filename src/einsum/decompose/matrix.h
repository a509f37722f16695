// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Small dense algebra for the decompositions, over BLAS and LAPACK. T is float or double; matrices
// and tensors are row-major. Sizes are those of a factor or of a tensor of at most 2^31 rows.

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace assay::einsum {

template <typename T>
struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<T> data;

  Matrix() = default;
  Matrix(std::int64_t r, std::int64_t c)
      : rows(r), columns(c), data(static_cast<std::size_t>(r * c), T(0)) {}
  T& operator()(std::int64_t i, std::int64_t j) {
    return data[static_cast<std::size_t>(i * columns + j)];
  }
  const T& operator()(std::int64_t i, std::int64_t j) const {
    return data[static_cast<std::size_t>(i * columns + j)];
  }
  Tensor tensor() const;  // a copy
};

// A row-major tensor that owns its elements, or borrows those of a view that lies so already.
template <typename T>
struct DenseTensor {
  std::vector<std::int64_t> shape;
  std::vector<T> data;
  const T* borrowed = nullptr;  // instead of data

  static DenseTensor from(const TensorView& view);  // converted to T
  // The same without a copy where none is needed; valid while the view's owner lives.
  static DenseTensor borrow(const TensorView& view);
  std::span<const T> elements() const {
    return {borrowed != nullptr ? borrowed : data.data(), static_cast<std::size_t>(size())};
  }
  std::int64_t count(std::size_t first,
                     std::size_t last) const {  // product of extents [first, last)
    std::int64_t product = 1;
    for (std::size_t i = first; i < last; ++i) product *= shape[i];
    return product;
  }
  std::int64_t size() const { return count(0, shape.size()); }
  std::size_t order() const { return shape.size(); }
  Tensor tensor() const;
};

// √Σx², accumulated in double without overflow for finite float input.
template <typename T>
double norm(std::span<const T> values);
// √Σ(x − y)².
template <typename T>
double distance(std::span<const T> x, std::span<const T> y);

// aᵀ·b for a n×p and b n×q.
template <typename T>
Matrix<T> cross(const Matrix<T>& a, const Matrix<T>& b);
template <typename T>
Matrix<T> multiply(const Matrix<T>& a, const Matrix<T>& b);
template <typename T>
Matrix<T> transposed(const Matrix<T>& a);

// X_(n)·X_(n)ᵀ for the unfolding of mode n.
template <typename T>
Matrix<T> mode_gram(const DenseTensor<T>& x, std::size_t mode);
// The tensor with mode n multiplied by uᵀ (u: extent × r), or by u (u: r × extent).
template <typename T>
DenseTensor<T> mode_multiply(const DenseTensor<T>& x, std::size_t mode, const Matrix<T>& u,
                             bool transpose_u);
// The unfolding of mode n: extent × (all others in order).
template <typename T>
Matrix<T> unfold(const DenseTensor<T>& x, std::size_t mode);

// a = left · diag(s) · right with orthonormal columns of left (m×r) and rows of right (r×n), s
// falling; a is destroyed. Throws UserError where a has NaN or infinite entries.
template <typename T>
struct ThinSvd {
  Matrix<T> left, right;
  std::vector<T> s;
};
template <typename T>
ThinSvd<T> thin_svd(Matrix<T>& a);
// Eigenvectors (columns) and eigenvalues of a symmetric matrix, falling.
template <typename T>
struct Eigen {
  Matrix<T> vectors;
  std::vector<T> values;
};
template <typename T>
Eigen<T> falling_eigen(const Matrix<T>& symmetric);
// Orthonormal basis of the columns of a (rows ≥ columns).
template <typename T>
Matrix<T> orthonormal(const Matrix<T>& a);
// The first `count` columns.
template <typename T>
Matrix<T> first_columns(const Matrix<T>& a, std::int64_t count);
// Entries uniform on [−1, 1), or [0, 1) if not negative, from a counter-based stream.
template <typename T>
Matrix<T> random_matrix(std::int64_t rows, std::int64_t columns, std::uint64_t seed,
                        std::uint64_t stream, bool nonnegative = false);

}  // namespace assay::einsum
