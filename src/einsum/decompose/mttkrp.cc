// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/mttkrp.h"

#include <algorithm>

#include "base/attend.h"
#include "base/error.h"
#include "einsum/kernels/parallel.h"
#include "einsum/kernels/skinny.h"
#include "kernels/blas/blas.h"

namespace assay::einsum {
namespace {

// Columns from which BLAS, which copies the tensor first, is as fast: measured at 128×128×128.
constexpr std::int64_t kManyColumns = 128;

int as_int(std::int64_t x) {
  check(x <= INT32_MAX, "a slab of the tensor has fewer than 2^31 rows and columns");
  return static_cast<int>(x);
}

}  // namespace

template <typename T>
Mttkrp<T>::Mttkrp(const DenseTensor<T>& x, const std::vector<Matrix<T>>& factors, int threads)
    : x_(x),
      factors_(factors),
      rank_(factors.empty() ? 0 : factors[0].columns),
      columns_(padded_columns<T>(rank_)),
      threads_(threads),
      tree_(x.shape) {
  check(x.order() >= 2 && factors.size() == x.order(), "a factor for each of two or more modes");
}

// The factor with zero columns up to a whole number of vectors.
template <typename T>
const T* Mttkrp<T>::padded(std::size_t mode) {
  const auto& u = factors_[mode];
  if (columns_ == rank_) return u.data.data();
  pad_.assign(static_cast<std::size_t>(u.rows * columns_), T(0));
  for (std::int64_t i = 0; i < u.rows; ++i) {
    std::copy_n(&u(i, 0), rank_, pad_.data() + i * columns_);
  }
  return pad_.data();
}

// X times the factor of one mode.
template <typename T>
void Mttkrp<T>::multiply(std::size_t mode, T* to) {
  const Middle s{x_.count(0, mode), x_.shape[mode], x_.count(mode + 1, x_.order())};
  const T* x = x_.elements().data();
  const T* u = padded(mode);
  ++products_;
  if (columns_ <= kManyColumns) {
    multiply_skinny(x, s, u, columns_, to, threads_);
    return;
  }
  const auto product = [&](blas::Op op, std::int64_t rows, const T* from, std::int64_t ld, T* y) {
    blas::gemm<T>(op, blas::Op::kNone, as_int(rows), as_int(columns_), as_int(s.n), T(1), from,
                  as_int(ld), u, as_int(columns_), T(0), y, as_int(columns_));
  };
  if (s.after == 1) {
    parallel_parts(threads_, s.before, [&](std::int64_t begin, std::int64_t end) {
      product(blas::Op::kNone, end - begin, x + begin * s.n, s.n, to + begin * columns_);
    });
    return;
  }
  parallel_parts(threads_, s.after, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = 0; p < s.before && still_wanted(); ++p) {
      product(blas::Op::kTranspose, end - begin, x + p * s.n * s.after + begin, s.after,
              to + (p * s.after + begin) * columns_);
    }
  });
}

template <typename T>
auto Mttkrp<T>::root(std::size_t gone) -> Data {
  auto made = workspace_.take<T>(static_cast<double>(x_.size() / x_.shape[gone] * columns_));
  multiply(gone, made.template data<T>());
  return made;
}

// Σ_i Y(…, i, …, r) U(i, r).
template <typename T>
auto Mttkrp<T>::without(const Data& y, const std::vector<std::size_t>& modes, std::size_t gone)
    -> Data {
  Middle s{1, x_.shape[gone], 1};
  for (const std::size_t m : modes) {
    if (m < gone) s.before *= x_.shape[m];
    if (m > gone) s.after *= x_.shape[m];
  }
  auto data = workspace_.take<T>(static_cast<double>(s.before * s.after * columns_));
  contract_columns(y.template data<T>(), s, padded(gone), columns_, data.template data<T>(),
                   threads_);
  return data;
}

template <typename T>
Matrix<T> Mttkrp<T>::next() {
  Matrix<T> m(x_.shape[tree_.turn()], rank_);
  const auto& product = tree_.next(
      [&](std::size_t gone) { return root(gone); },
      [&](const Data& y, const auto& modes, std::size_t gone) { return without(y, modes, gone); });
  const T* from = product.template data<T>();
  for (std::int64_t i = 0; i < m.rows; ++i) std::copy_n(from + i * columns_, rank_, &m(i, 0));
  return m;
}

template class Mttkrp<float>;
template class Mttkrp<double>;

}  // namespace assay::einsum
