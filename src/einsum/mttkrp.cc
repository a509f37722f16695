// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/mttkrp.h"

#include "base/error.h"
#include "einsum/blas.h"
#include "einsum/parallel.h"

namespace assay::einsum {
namespace {

// A tensor over modes [first, last) with the components as its last, contiguous axis.
template <typename T>
struct Partial {
  std::size_t first, last;
  std::vector<T> data;
};

template <typename T>
class DimensionTree {
 public:
  DimensionTree(const DenseTensor<T>& x, std::vector<Matrix<T>>& factors,
                const std::function<void(std::size_t, Matrix<T>&)>& update, int threads)
      : x_(x), factors_(factors), update_(update), r_(factors[0].columns), threads_(threads) {}

  void run() {
    const std::size_t n = x_.order(), middle = n / 2 + n % 2;
    {
      // The last mode goes first: X as a matrix times its factor, one product over everything.
      Partial<T> left{0, n - 1, std::vector<T>(size(0, n - 1) * static_cast<std::size_t>(r_))};
      product(Op::kNone, x_.count(0, n - 1), x_.shape[n - 1], factors_[n - 1], left.data);
      while (left.last > middle) left = without_last(left);
      visit(std::move(left));
    }
    Partial<T> right{1, n, std::vector<T>(size(1, n) * static_cast<std::size_t>(r_))};
    product(Op::kTranspose, x_.count(1, n), x_.shape[0], factors_[0], right.data);
    while (right.first < middle) right = without_first(right);
    visit(std::move(right));
  }

 private:
  std::size_t size(std::size_t first, std::size_t last) const {
    return static_cast<std::size_t>(x_.count(first, last));
  }

  // to (rows × R) = op(X)·factor, with X rows × depth, or depth × rows if transposed.
  void product(Op op, std::int64_t rows, std::int64_t depth, const Matrix<T>& factor,
               std::vector<T>& to) const {
    const auto ld = op == Op::kNone ? depth : rows;
    parallel_parts(threads_, rows, [&](std::int64_t begin, std::int64_t end) {
      const T* x = x_.elements().data() + begin * (op == Op::kNone ? ld : 1);
      gemm<T>(op, Op::kNone, static_cast<int>(end - begin), static_cast<int>(r_),
              static_cast<int>(depth), T(1), x, static_cast<int>(ld), factor.data.data(),
              static_cast<int>(r_), T(0), to.data() + begin * r_, static_cast<int>(r_));
    });
  }

  // Σ_i Y(…, i, r) U(i, r) over the last mode.
  Partial<T> without_last(const Partial<T>& y) const {
    const std::size_t mode = y.last - 1;
    const std::int64_t rows = x_.count(y.first, mode), n = x_.shape[mode];
    Partial<T> z{y.first, mode, std::vector<T>(static_cast<std::size_t>(rows * r_), T(0))};
    for (std::int64_t p = 0; p < rows; ++p) {
      accumulate(n, y.data.data() + p * n * r_, r_, factors_[mode], z.data.data() + p * r_);
    }
    return z;
  }

  // Σ_i Y(i, …, r) U(i, r) over the first mode.
  Partial<T> without_first(const Partial<T>& y) const {
    const std::size_t mode = y.first;
    const std::int64_t n = x_.shape[mode], rest = x_.count(mode + 1, y.last);
    Partial<T> z{mode + 1, y.last, std::vector<T>(static_cast<std::size_t>(rest * r_), T(0))};
    for (std::int64_t i = 0; i < n; ++i) {
      const T* u = &factors_[mode](i, 0);
      const T* from = y.data.data() + i * rest * r_;
      for (std::int64_t q = 0; q < rest; ++q) {
        for (std::int64_t r = 0; r < r_; ++r)
          z.data[static_cast<std::size_t>(q * r_ + r)] += from[q * r_ + r] * u[r];
      }
    }
    return z;
  }

  void accumulate(std::int64_t n, const T* from, std::int64_t stride, const Matrix<T>& factor,
                  T* to) const {
    for (std::int64_t i = 0; i < n; ++i) {
      const T* u = &factor(i, 0);
      for (std::int64_t r = 0; r < r_; ++r) to[r] += from[i * stride + r] * u[r];
    }
  }

  void visit(Partial<T> y) {
    if (y.last - y.first == 1) {
      Matrix<T> m(x_.shape[y.first], r_);
      m.data = std::move(y.data);
      update_(y.first, m);
      return;
    }
    const std::size_t middle = y.first + (y.last - y.first + 1) / 2;
    Partial<T> left = without_last(y);
    while (left.last > middle) left = without_last(left);
    visit(std::move(left));
    Partial<T> right = without_first(y);
    while (right.first < middle) right = without_first(right);
    visit(std::move(right));
  }

  const DenseTensor<T>& x_;
  std::vector<Matrix<T>>& factors_;
  const std::function<void(std::size_t, Matrix<T>&)>& update_;
  std::int64_t r_;
  int threads_;
};

}  // namespace

template <typename T>
void for_each_mttkrp(const DenseTensor<T>& x, std::vector<Matrix<T>>& factors,
                     const std::function<void(std::size_t mode, Matrix<T>& m)>& update,
                     int threads) {
  check(x.order() >= 2 && factors.size() == x.order(), "a factor for each of two or more modes");
  DimensionTree<T>(x, factors, update, threads).run();
}

template void for_each_mttkrp<float>(const DenseTensor<float>&, std::vector<Matrix<float>>&,
                                     const std::function<void(std::size_t, Matrix<float>&)>&, int);
template void for_each_mttkrp<double>(const DenseTensor<double>&, std::vector<Matrix<double>>&,
                                      const std::function<void(std::size_t, Matrix<double>&)>&,
                                      int);

}  // namespace assay::einsum
