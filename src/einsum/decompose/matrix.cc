// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/matrix.h"

#include <algorithm>
#include <climits>
#include <cmath>

#include "base/attend.h"
#include "base/error.h"
#include "base/philox.h"
#include "kernels/blas/blas.h"
#include "kernels/blas/lapack.h"
#include "tensor/convert.h"

namespace assay::einsum {
namespace {

int as_int(std::int64_t x) {
  if (x > INT_MAX) fail("decompositions take at most 2^31 rows or columns, not {}", x);
  return static_cast<int>(x);
}

}  // namespace

template <typename T>
Tensor Matrix<T>::tensor() const {
  Tensor result(kDTypeOf<T>, Shape({rows, columns}));
  std::ranges::copy(data, result.as<T>().begin());
  return result;
}

template <typename T>
DenseTensor<T> DenseTensor<T>::from(const TensorView& view) {
  DenseTensor x;
  x.shape.assign(view.shape().extents().begin(), view.shape().extents().end());
  x.data.resize(static_cast<std::size_t>(view.element_count()));
  convert_into(view, MutableTensorView(kDTypeOf<T>, x.data.data(), view.shape()));
  return x;
}

template <typename T>
DenseTensor<T> DenseTensor<T>::borrow(const TensorView& view) {
  if (view.dtype() != kDTypeOf<T> || !view.is_contiguous()) return from(view);
  DenseTensor x;
  x.shape.assign(view.shape().extents().begin(), view.shape().extents().end());
  x.borrowed = view.data<T>();
  return x;
}

template <typename T>
Tensor DenseTensor<T>::tensor() const {
  Tensor result(kDTypeOf<T>, Shape(shape));
  std::ranges::copy(elements(), result.as<T>().begin());
  return result;
}

namespace {

// Σ term(i), in eight sums, so that additions need not wait for each other.
template <typename Term>
double sum_of(std::size_t count, const Term& term) {
  double sums[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (std::size_t j = 0; j < 8; ++j) sums[j] += term(i + j);
  }
  for (; i < count; ++i) sums[0] += term(i);
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace

template <typename T>
double norm(std::span<const T> values) {
  return std::sqrt(sum_of(values.size(), [&](std::size_t i) {
    return static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }));
}

template <typename T>
double distance(std::span<const T> x, std::span<const T> y) {
  return std::sqrt(sum_of(x.size(), [&](std::size_t i) {
    const double d = static_cast<double>(x[i]) - static_cast<double>(y[i]);
    return d * d;
  }));
}

template <typename T>
Matrix<T> cross(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> c(a.columns, b.columns);
  if (c.data.empty() || a.rows == 0) return c;
  blas::gemm<T>(blas::Op::kTranspose, blas::Op::kNone, as_int(a.columns), as_int(b.columns),
                as_int(a.rows), T(1), a.data.data(), as_int(a.columns), b.data.data(),
                as_int(b.columns), T(0), c.data.data(), as_int(b.columns));
  return c;
}

template <typename T>
Matrix<T> multiply(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> c(a.rows, b.columns);
  if (c.data.empty() || a.columns == 0) return c;
  blas::gemm<T>(blas::Op::kNone, blas::Op::kNone, as_int(a.rows), as_int(b.columns),
                as_int(a.columns), T(1), a.data.data(), as_int(a.columns), b.data.data(),
                as_int(b.columns), T(0), c.data.data(), as_int(b.columns));
  return c;
}

template <typename T>
Matrix<T> transposed(const Matrix<T>& a) {
  Matrix<T> t(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) t(j, i) = a(i, j);
  }
  return t;
}

template <typename T>
Matrix<T> mode_gram(const DenseTensor<T>& x, std::size_t mode) {
  const std::int64_t n = x.shape[mode], before = x.count(0, mode),
                     after = x.count(mode + 1, x.order());
  Matrix<T> g(n, n);
  if (x.size() == 0) return g;
  if (after == 1) {  // one product over all of what comes before
    blas::gemm<T>(blas::Op::kTranspose, blas::Op::kNone, as_int(n), as_int(n), as_int(before), T(1),
                  x.elements().data(), as_int(n), x.elements().data(), as_int(n), T(0),
                  g.data.data(), as_int(n));
    return g;
  }
  for (std::int64_t p = 0; p < before; ++p) {
    attend();
    const T* plane = x.elements().data() + p * n * after;
    blas::gemm<T>(blas::Op::kNone, blas::Op::kTranspose, as_int(n), as_int(n), as_int(after), T(1),
                  plane, as_int(after), plane, as_int(after), p == 0 ? T(0) : T(1), g.data.data(),
                  as_int(n));
  }
  return g;
}

template <typename T>
DenseTensor<T> mode_multiply(const DenseTensor<T>& x, std::size_t mode, const Matrix<T>& u,
                             bool transpose_u) {
  const std::int64_t n = x.shape[mode], r = transpose_u ? u.columns : u.rows;
  check((transpose_u ? u.rows : u.columns) == n, "a factor has the extent of its mode");
  const std::int64_t before = x.count(0, mode), after = x.count(mode + 1, x.order());
  DenseTensor<T> y;
  y.shape = x.shape;
  y.shape[mode] = r;
  y.data.resize(static_cast<std::size_t>(y.size()));
  if (y.data.empty() || n == 0) return y;
  const int ldu = as_int(u.columns);
  if (after == 1) {
    blas::gemm<T>(blas::Op::kNone, transpose_u ? blas::Op::kNone : blas::Op::kTranspose,
                  as_int(before), as_int(r), as_int(n), T(1), x.elements().data(), as_int(n),
                  u.data.data(), ldu, T(0), y.data.data(), as_int(r));
    return y;
  }
  for (std::int64_t p = 0; p < before; ++p) {
    attend();
    blas::gemm<T>(transpose_u ? blas::Op::kTranspose : blas::Op::kNone, blas::Op::kNone, as_int(r),
                  as_int(after), as_int(n), T(1), u.data.data(), ldu,
                  x.elements().data() + p * n * after, as_int(after), T(0),
                  y.data.data() + p * r * after, as_int(after));
  }
  return y;
}

template <typename T>
Matrix<T> unfold(const DenseTensor<T>& x, std::size_t mode) {
  const std::int64_t n = x.shape[mode], before = x.count(0, mode),
                     after = x.count(mode + 1, x.order());
  Matrix<T> m(n, before * after);
  for (std::int64_t p = 0; p < before; ++p) {
    for (std::int64_t i = 0; i < n; ++i) {
      std::copy_n(x.elements().begin() + (p * n + i) * after, after, &m(i, 0) + p * after);
    }
  }
  return m;
}

template <typename T>
ThinSvd<T> thin_svd(Matrix<T>& a) {
  attend();
  // What is row-major for us is the transpose for LAPACK: its u are our right vectors.
  auto f = blas::svd<T>(as_int(a.columns), as_int(a.rows), a.data.data());
  const auto r = static_cast<std::int64_t>(f.s.size());
  ThinSvd<T> result;
  result.left.rows = a.rows;
  result.left.columns = r;
  result.left.data = std::move(f.vt);
  result.right.rows = r;
  result.right.columns = a.columns;
  result.right.data = std::move(f.u);
  result.s = std::move(f.s);
  return result;
}

template <typename T>
Eigen<T> falling_eigen(const Matrix<T>& symmetric) {
  attend();
  const std::int64_t n = symmetric.rows;
  auto vectors = symmetric.data;
  auto values = blas::eigen_symmetric<T>(as_int(n), vectors.data());
  Eigen<T> result{Matrix<T>(n, n), std::vector<T>(values.rbegin(), values.rend())};
  for (std::int64_t j = 0; j < n; ++j) {  // column n−1−j of LAPACK's, which is contiguous
    for (std::int64_t i = 0; i < n; ++i) {
      result.vectors(i, j) = vectors[static_cast<std::size_t>((n - 1 - j) * n + i)];
    }
  }
  return result;
}

template <typename T>
Matrix<T> orthonormal(const Matrix<T>& a) {
  attend();
  auto columns = transposed(a);  // row-major transpose = column-major
  blas::orthonormalize<T>(as_int(a.rows), as_int(a.columns), columns.data.data());
  return transposed(columns);
}

template <typename T>
Matrix<T> first_columns(const Matrix<T>& a, std::int64_t count) {
  Matrix<T> b(a.rows, count);
  for (std::int64_t i = 0; i < a.rows; ++i) std::copy_n(&a(i, 0), count, &b(i, 0));
  return b;
}

template <typename T>
Matrix<T> random_matrix(std::int64_t rows, std::int64_t columns, std::uint64_t seed,
                        std::uint64_t stream, bool nonnegative) {
  Matrix<T> m(rows, columns);
  const Philox random(seed, stream);
  for (std::size_t i = 0; i < m.data.size(); i += 4) {  // a block of four costs what one does
    const auto raw = random.block(i / 4);
    for (std::size_t j = 0; j < std::min<std::size_t>(4, m.data.size() - i); ++j) {
      m.data[i + j] = static_cast<T>(uniform(raw[j], nonnegative ? 0 : -1, 1));
    }
  }
  return m;
}

#define ASSAY_INSTANTIATE(T)                                                                     \
  template struct Matrix<T>;                                                                     \
  template struct DenseTensor<T>;                                                                \
  template double norm<T>(std::span<const T>);                                                   \
  template double distance<T>(std::span<const T>, std::span<const T>);                           \
  template Matrix<T> cross<T>(const Matrix<T>&, const Matrix<T>&);                               \
  template Matrix<T> multiply<T>(const Matrix<T>&, const Matrix<T>&);                            \
  template Matrix<T> transposed<T>(const Matrix<T>&);                                            \
  template Matrix<T> mode_gram<T>(const DenseTensor<T>&, std::size_t);                           \
  template DenseTensor<T> mode_multiply<T>(const DenseTensor<T>&, std::size_t, const Matrix<T>&, \
                                           bool);                                                \
  template Matrix<T> unfold<T>(const DenseTensor<T>&, std::size_t);                              \
  template ThinSvd<T> thin_svd<T>(Matrix<T>&);                                                   \
  template Eigen<T> falling_eigen<T>(const Matrix<T>&);                                          \
  template Matrix<T> orthonormal<T>(const Matrix<T>&);                                           \
  template Matrix<T> first_columns<T>(const Matrix<T>&, std::int64_t);                           \
  template Matrix<T> random_matrix<T>(std::int64_t, std::int64_t, std::uint64_t, std::uint64_t,  \
                                      bool);
ASSAY_INSTANTIATE(float)
ASSAY_INSTANTIATE(double)
#undef ASSAY_INSTANTIATE

}  // namespace assay::einsum
