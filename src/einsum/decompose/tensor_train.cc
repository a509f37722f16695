// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "einsum/decompose/tensor_train.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "einsum/decompose/matrix.h"
#include "einsum/decompose/normalized.h"

namespace assay::einsum {
namespace {

// How many singular values stay: so many that the squares of the rest sum up to at most `may_lose`,
// but no more than a given rank.
template <typename T>
std::int64_t kept_rank(const std::vector<T>& s, std::optional<std::int64_t> rank, double may_lose,
                       double& lost) {
  std::int64_t kept = static_cast<std::int64_t>(s.size());
  double tail = 0;
  const auto square = [&](std::int64_t i) {
    const double v = static_cast<double>(s[static_cast<std::size_t>(i)]);
    return v * v;
  };
  while (kept > 1) {
    const double more = tail + square(kept - 1);
    if ((!rank || kept <= *rank) && more > may_lose) break;
    tail = more;
    --kept;
  }
  lost += tail;
  return kept;
}

template <typename T>
Tensor core_of(const Matrix<T>& m, std::int64_t left, std::int64_t n, std::int64_t right) {
  Tensor core(kDTypeOf<T>, Shape({left, n, right}));
  std::copy_n(m.data.begin(), left * n * right, core.as<T>().begin());
  return core;
}

// diag(s)·right, the first `rank` rows.
template <typename T>
Matrix<T> scaled_rows(const ThinSvd<T>& f, std::int64_t rank) {
  Matrix<T> m(rank, f.right.columns);
  for (std::int64_t i = 0; i < rank; ++i) {
    for (std::int64_t j = 0; j < m.columns; ++j) {
      m(i, j) = f.s[static_cast<std::size_t>(i)] * f.right(i, j);
    }
  }
  return m;
}

std::optional<std::int64_t> wanted(const TrainOptions& o, std::size_t cut) {
  if (o.ranks.empty()) return std::nullopt;
  return o.ranks[cut];
}

// The square of what a cut may lose; below 0 where not even a zero may go.
double allowed(const TrainOptions& o, double norm, std::size_t modes) {
  if (!o.tolerance) return -1;
  const double all = *o.tolerance * norm;
  return all * all / static_cast<double>(std::max<std::size_t>(modes, 2) - 1);
}

// TT-SVD: cuts off one mode after the other.
template <typename T>
TrainResult decompose(const TensorView& view, const TrainOptions& o) {
  const auto [x, size, exponent] = normalized<T>(view, "tensor train");
  const std::size_t d = x.order();
  const double may_lose = allowed(o, size, d);
  TrainResult result;
  double lost = 0;
  std::int64_t left = 1;
  Matrix<T> rest(x.shape[0], x.count(1, d));
  std::ranges::copy(x.elements(), rest.data.begin());
  for (std::size_t k = 0; k + 1 < d; ++k) {
    auto f = thin_svd(rest);
    const std::int64_t rank = kept_rank(f.s, wanted(o, k), may_lose, lost);
    result.cores.push_back(core_of(first_columns(f.left, rank), left, x.shape[k], rank));
    const auto carried = scaled_rows(f, rank);
    left = rank;
    rest.rows = rank * x.shape[k + 1];
    rest.columns = carried.data.empty() ? 0 : rank * carried.columns / rest.rows;
    rest.data = carried.data;
  }
  result.cores.push_back(core_of(rest, left, x.shape[d - 1], 1));
  scale_back(result.cores.back().as<T>(), exponent, "tensor train");
  result.relative_error = size == 0 ? 0 : std::sqrt(lost) / size;
  return result;
}

template <typename T>
Matrix<T> matrix_of(const Tensor& core, bool by_left) {
  const auto& s = core.shape();
  Matrix<T> m(by_left ? s[0] : s[0] * s[1], by_left ? s[1] * s[2] : s[2]);
  std::ranges::copy(core.as<T>(), m.data.begin());
  return m;
}

// Orthogonalises from the right, then truncates from the left: no step sees more than a core.
template <typename T>
TrainResult round_as(const std::vector<Tensor>& cores, const TrainOptions& o) {
  const std::size_t d = cores.size();
  std::vector<Matrix<T>> carried(d);  // core k as r_{k−1} × (n·r_k)
  std::vector<std::int64_t> left(d), right(d);
  int exponent = 0;  // of all cores together
  for (std::size_t k = 0; k < d; ++k) {
    const auto core = normalized<T>(cores[k].view(), "tensor train");
    exponent += core.exponent;
    carried[k] = Matrix<T>(cores[k].shape()[0], cores[k].shape()[1] * cores[k].shape()[2]);
    std::ranges::copy(core.x.elements(), carried[k].data.begin());
    left[k] = cores[k].shape()[0];
    right[k] = cores[k].shape()[2];
  }
  for (std::size_t k = d - 1; k > 0; --k) {
    // core = (left·diag(s))·right, with orthonormal rows of right.
    auto f = thin_svd(carried[k]);
    const auto r = static_cast<std::int64_t>(f.s.size());
    for (std::int64_t i = 0; i < f.left.rows; ++i) {
      for (std::int64_t j = 0; j < r; ++j) f.left(i, j) *= f.s[static_cast<std::size_t>(j)];
    }
    carried[k] = f.right;
    left[k] = r;
    Matrix<T> before = std::move(carried[k - 1]);
    before.rows = left[k - 1] * cores[k - 1].shape()[1];
    before.columns = right[k - 1];
    auto joined = multiply(before, f.left);
    right[k - 1] = r;
    joined.columns = cores[k - 1].shape()[1] * r;
    joined.rows = left[k - 1];
    carried[k - 1] = std::move(joined);
  }
  const double size = norm<T>(carried[0].data);  // the rest is orthonormal
  const double may_lose = allowed(o, size, d);
  TrainResult result;
  double lost = 0;
  for (std::size_t k = 0; k + 1 < d; ++k) {
    const std::int64_t n = cores[k].shape()[1];
    Matrix<T> m = std::move(carried[k]);
    m.rows = left[k] * n;
    m.columns = right[k];
    auto f = thin_svd(m);
    const std::int64_t rank = kept_rank(f.s, wanted(o, k), may_lose, lost);
    result.cores.push_back(core_of(first_columns(f.left, rank), left[k], n, rank));
    carried[k + 1] = multiply(scaled_rows(f, rank), carried[k + 1]);
    left[k + 1] = rank;
  }
  result.cores.push_back(core_of(carried[d - 1], left[d - 1], cores[d - 1].shape()[1], 1));
  scale_back(result.cores.back().as<T>(), exponent, "tensor train");
  result.relative_error = size == 0 ? 0 : std::sqrt(lost) / size;
  return result;
}

template <typename T>
Tensor rebuild(const std::vector<Tensor>& cores) {
  Matrix<T> all = matrix_of<T>(cores[0], false);
  std::vector<std::int64_t> shape = {cores[0].shape()[1]};
  for (std::size_t k = 1; k < cores.size(); ++k) {
    all = multiply(all, matrix_of<T>(cores[k], true));
    all.rows = all.rows * cores[k].shape()[1];
    all.columns = cores[k].shape()[2];
    shape.push_back(cores[k].shape()[1]);
  }
  Tensor result(kDTypeOf<T>, Shape(shape));
  std::ranges::copy(all.data, result.as<T>().begin());
  return result;
}

void check_options(const TrainOptions& o, std::size_t modes) {
  if (modes == 1 && !o.ranks.empty()) {
    fail("tensor train: a vector has one core and no ranks, got {}", fmt::join(o.ranks, ","));
  }
  if (o.ranks.empty() && !o.tolerance)
    fail("tensor train: ranks or a tolerance are needed, got neither");
  if (!o.ranks.empty() && o.ranks.size() + 1 != modes) {
    fail("tensor train: {} ranks for {} modes; there is one less than modes", o.ranks.size(),
         modes);
  }
  for (const auto r : o.ranks) {
    if (r < 1) fail("tensor train: ranks are at least 1, not {}", r);
  }
  if (o.tolerance && !(*o.tolerance >= 0)) {
    fail("tensor train: the tolerance is at least 0, not {}", *o.tolerance);
  }
}

// No cut of a tensor has more singular values than it has rows or columns.
void check_ranks(const TrainOptions& o, const Shape& shape) {
  std::int64_t rows = 1;
  for (std::size_t cut = 0; cut < o.ranks.size(); ++cut) {
    rows *= shape[cut];
    const auto most = std::min(rows, shape.element_count() / rows);
    if (o.ranks[cut] > most) {
      fail("tensor train: rank {} is from 1 to {}, which shape {} allows, not {}", cut, most,
           shape.to_string(), o.ranks[cut]);
    }
  }
}

void check_cores(const std::vector<Tensor>& cores) {
  if (cores.empty()) fail("tensor train: there are no cores");
  std::int64_t left = 1;
  for (std::size_t k = 0; k < cores.size(); ++k) {
    const auto& s = cores[k].shape();
    if (s.rank() != 3 || s[0] != left || cores[k].dtype() != cores[0].dtype() ||
        (k + 1 == cores.size() && s[2] != 1)) {
      fail("tensor train: core {} does not fit the one before it, shape {}", k, s.to_string());
    }
    left = s[2];
  }
  if (cores[0].dtype() != DType::kF32 && cores[0].dtype() != DType::kF64) {
    fail("tensor train: cores are f32 or f64, not {}", name_of(cores[0].dtype()));
  }
}

}  // namespace

TrainResult tensor_train(const TensorView& x, const TrainOptions& options) {
  if (is_complex(x.dtype())) {
    fail("tensor train: complex tensors are not decomposed, dtype {}", name_of(x.dtype()));
  }
  if (x.rank() == 0 || x.element_count() == 0) {
    fail("tensor train: the tensor has no elements or no modes, shape {}", x.shape().to_string());
  }
  check_options(options, x.rank());
  check_ranks(options, x.shape());
  return x.dtype() == DType::kF32 ? decompose<float>(x, options) : decompose<double>(x, options);
}

TrainResult round_train(const std::vector<Tensor>& cores, const TrainOptions& options) {
  check_cores(cores);
  check_options(options, cores.size());
  return cores[0].dtype() == DType::kF32 ? round_as<float>(cores, options)
                                         : round_as<double>(cores, options);
}

Tensor train_reconstruct(const std::vector<Tensor>& cores) {
  check_cores(cores);
  return cores[0].dtype() == DType::kF32 ? rebuild<float>(cores) : rebuild<double>(cores);
}

}  // namespace assay::einsum
